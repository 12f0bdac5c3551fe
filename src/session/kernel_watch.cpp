#include "session/kernel_watch.h"

#include <algorithm>

#include "base/clock.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kTryAgainAfterNs = 250'000'000;
constexpr unsigned kTries = 8;

}  // namespace

bool runs_kernel(const wire::Capture& capture, const elf::ImageMap& images) {
  const std::uint8_t pc = wire::roles_of(capture.arch).pc;
  return capture.level == PrivilegeLevel::kKernel && capture.registers.has(pc) &&
         images.find_code(GuestVirt{capture.registers.get(pc)}) != nullptr;
}

KernelWatch::KernelWatch(const elf::ImageMap& images, guestos::Adapter& adapter)
    : images_(&images), adapter_(&adapter) {}

Result<bool> KernelWatch::look(engines::Engine& engine, const engines::Tick& tick,
                               std::uint64_t now_ns) {
  if ((prepared_ && settled_) || now_ns < next_try_ns_) return false;
  const auto running =
      std::find_if(tick.captures.begin(), tick.captures.end(),
                   [this](const wire::Capture& capture) { return runs_kernel(capture, *images_); });
  if (running == tick.captures.end()) return false;
  next_try_ns_ = now_ns + kTryAgainAfterNs;
  const std::uint64_t start = monotonic_ns();
  const auto result = engine.with_memory([&](const engines::ReadMemory& read) {
    return read_guest(running->vcpu, engine.vcpu_count(), read);
  });
  paused_ns_ += monotonic_ns() - start;
  ++pauses_;
  if (!result) return tl::unexpected<Error>(result.error());
  return true;
}

// What ran at the kernel's addresses may have been a boot loader or a decompressor: only a match,
// and a difference in what names a kernel, are believed at once.
void KernelWatch::settle() {
  const bool names_differ =
      identity_.sameness == elf::Sameness::kDifferent && identity_.evidence != elf::kTextEvidence;
  settled_ = identity_.sameness == elf::Sameness::kSame || names_differ || ++tries_ == kTries;
}

std::string KernelWatch::explain_identity() const {
  return seen_once() ? identity_.explain(images_->images().front().file->name()) : std::string();
}

Result<void> KernelWatch::read_guest(VcpuId vcpu, std::size_t vcpus,
                                     const engines::ReadMemory& read) {
  const elf::GuestReader reader = [&](GuestVirt at, std::span<std::byte> into) {
    return read(vcpu, at, into);
  };
  const elf::Image& kernel = images_->images().front();
  if (!settled_) {
    RINGSIDE_ASSIGN(identity_, elf::check_identity(*kernel.file, kernel.load_bias, reader));
    settle();
  }
  RINGSIDE_ASSIGN(prepared_, adapter_->prepare(vcpus, reader));
  return {};
}

}  // namespace ringside::session
