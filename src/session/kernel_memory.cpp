#include "session/kernel_memory.h"

#include <time.h>

#include <array>

#include "memory/x86_64/page_walk.h"

namespace ringside::session {
namespace {

constexpr int kTries = 100;

void rest() {
  const timespec pause{0, 300'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

KernelMemory::KernelMemory(engines::Engine& engine, const wire::Capture& capture)
    : engine_(&engine),
      vcpu_(capture.vcpu),
      pc_{capture.registers.get(wire::roles_of(capture.arch).pc)} {
  if (capture.arch != Arch::kX86_64) return;
  const auto tables = memory::x86_64::LongModeTables::of(capture.registers);
  const auto physical = engine.physical_memory();
  if (!tables || !physical) return;
  tables_ = std::make_unique<memory::x86_64::LongModeTables>(*tables);
  space_ = std::make_unique<memory::AddressSpace>(*tables_, **physical);
}

Result<std::size_t> KernelMemory::read(GuestVirt address, std::span<std::byte> destination) {
  if (space_) return space_->read_up_to(address, destination);
  for (int i = 0; i < kTries; ++i) {
    auto size = engine_->read_virtual(vcpu_, address, destination);
    if (!size || *size != 0) return size;
    std::array<std::byte, 1> code{};
    RINGSIDE_ASSIGN(const std::size_t kernel_is_mapped, engine_->read_virtual(vcpu_, pc_, code));
    if (kernel_is_mapped != 0 && i > 0) return 0;
    rest();
  }
  return 0;
}

}  // namespace ringside::session
