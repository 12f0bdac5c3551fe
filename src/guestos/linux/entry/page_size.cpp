#include "guestos/linux/entry/page_size.h"

#include "base/byte_reader.h"

namespace ringside::guestos {

// The 64 bytes in front of an arm64 kernel's code (Documentation/arch/arm64/booting.rst): flags at
// 24, whose bits 1 and 2 are 1 for 4 KiB, 2 for 16 KiB, 3 for 64 KiB; "ARM\x64" at 56.
std::uint64_t kernel_page_size(const elf::ElfFile& kernel) {
  constexpr std::uint64_t kUsual = 4096;
  constexpr std::size_t kHeaderBytes = 64;
  constexpr std::uint32_t kMagic = 0x644d5241;
  if (kernel.arch() != Arch::kAArch64) return kUsual;
  for (const elf::Segment& segment : kernel.segments()) {
    ByteReader header(kernel.bytes_at(segment.address, kHeaderBytes));
    if (header.remaining() < kHeaderBytes || !header.skip(24)) continue;
    const auto flags = header.read<std::uint64_t>();
    if (!header.skip(24) || header.read<std::uint32_t>() != kMagic) continue;
    switch (*flags >> 1 & 3) {
      case 2:
        return 16 * 1024;
      case 3:
        return 64 * 1024;
      default:
        return kUsual;
    }
  }
  return kUsual;
}

}  // namespace ringside::guestos
