#include "session/kernel/kernel_scan.h"

#include <algorithm>

#include "session/kernel/memory_scan.h"
#include "symbols/linux_image/linux_image.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kReach = 64 << 20;
constexpr std::uint64_t kReachAtFirst = 16 << 20;

// Parts of itself that the kernel has unmapped are looked over: x86_64's padding between code and
// data, and its init sections. Elsewhere device memory may be mapped close to the kernel.
std::uint64_t longest_hole(Arch arch) { return arch == Arch::kX86_64 ? 8 << 20 : 0; }

// i386 maps all memory from physical address 0 on at PAGE_OFFSET, video memory at 640 KiB included.
std::uint64_t lowest_address(Arch arch) { return arch == Arch::kI386 ? 0xc0100000 : 0; }

Result<ScannedKernel> scan(Arch arch, GuestVirt pc, std::uint64_t reach, VirtualMemory& memory) {
  RINGSIDE_ASSIGN(const MappedMemory mapped, read_around(pc,
                                                         {.down = reach,
                                                          .up = reach,
                                                          .longest_hole = longest_hole(arch),
                                                          .lowest = lowest_address(arch)},
                                                         memory));
  ScannedKernel scanned;
  std::vector<kernel_image::KernelSegment> segments;
  for (const auto& [at, bytes] : mapped) {
    segments.push_back({{at}, bytes, bytes.size()});
    scanned.bytes += bytes.size();
  }
  const auto image = symbols::read_linux_image(arch, std::move(segments));
  if (!image) return scanned;
  const auto& symbols = image->symbols.symbols;
  const auto& last = image->segments.back();
  scanned.is_whole = std::none_of(symbols.begin(), symbols.end(), [&](const auto& symbol) {
    return symbol.module.empty() && symbol.type != 'a' && symbol.type != 'A' &&
           symbol.address >= last.address + last.memory_size;
  });
  if (!scanned.is_whole && reach < kReach) return scanned;  // more of it can be read
  RINGSIDE_ASSIGN(scanned.file, elf::ElfFile::from_bytes(symbols::make_elf(*image), ""));
  return scanned;
}

}  // namespace

Result<ScannedKernel> kernel_in_memory(Arch arch, GuestVirt pc, VirtualMemory& memory) {
  if (arch != Arch::kI386) return scan(arch, pc, kReach, memory);
  // Mapped memory does not end where the kernel does, and most of these are small.
  RINGSIDE_ASSIGN(ScannedKernel near, scan(arch, pc, kReachAtFirst, memory));
  if (near.file) return near;
  return scan(arch, pc, kReach, memory);
}

}  // namespace ringside::session
