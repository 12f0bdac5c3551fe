#include "plugin/frame_pointer_walk.h"

#include <cstring>
#include <optional>

#include "arch/arch_info.h"

namespace ringside::plugin {
namespace {

constexpr unsigned kMostSwitches = 4;  // of stacks, to lower addresses

struct Caller {
  std::uint64_t frame_pointer = 0;
  std::uint64_t return_address = 0;
};

std::optional<Caller> read_record(Guest& guest, Arch arch, std::uint64_t frame_pointer) {
  const arch::ArchInfo& info = arch::info_of(arch);
  const std::size_t size = info.roles.pointer_size;
  std::byte bytes[16] = {};
  const GuestVirt at{frame_pointer - static_cast<std::size_t>(-info.frame_record.from_fp) * size};
  if (guest.read_memory(at, std::span(bytes).first(2 * size)) != 2 * size) return std::nullopt;
  Caller record;
  std::memcpy(&record.frame_pointer, bytes, size);
  std::memcpy(&record.return_address, bytes + size, size);
  return record;
}

// Where kernels live: the upper half, and on i386 most often the upper quarter.
bool is_kernel_address(Arch arch, std::uint64_t address) {
  return arch == Arch::kI386 ? address >= 0xc000'0000 : address >> 63 != 0;
}

}  // namespace

std::span<std::uint64_t> walk_frame_pointers(
    Guest& guest, const wire::Capture& capture,
    std::span<std::uint64_t, kMostWalkedFrames> addresses) {
  const arch::RegisterRoles roles = arch::roles_of(capture.arch);
  std::size_t count = 0;
  addresses[count++] = capture.registers.get(roles.pc);
  const bool starts_high = is_kernel_address(capture.arch, addresses[0]);
  std::uint64_t fp = 0;
  std::uint64_t next = capture.registers.has(roles.fp) ? capture.registers.get(roles.fp) : 0;
  // Stacks grow downwards: a caller's frame lies above, unless it is on another stack.
  unsigned switches = 0;
  for (std::uint64_t last = 0; count < kMostWalkedFrames; last = fp) {
    fp = next;
    if (fp == 0 || fp == last || (fp < last && ++switches > kMostSwitches)) break;
    const auto record =
        fp % roles.pointer_size == 0 ? read_record(guest, capture.arch, fp) : std::nullopt;
    if (!record || record->return_address == 0) break;
    // From a kernel up there into user code: the user's own frames follow no more.
    if (starts_high && !is_kernel_address(capture.arch, record->return_address)) break;
    addresses[count++] = record->return_address;
    next = record->frame_pointer;
  }
  return addresses.first(count);
}

}  // namespace ringside::plugin
