#include <cstddef>
#include <cstdint>

#include "symbols/linux_image/linux_image.h"

// The input is the read-only data of a kernel, 128 KiB behind its first address.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  static const std::vector<std::byte> text(0x10000);
  const Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  for (const Arch arch : {Arch::kX86_64, Arch::kI386}) {
    const std::uint64_t start = arch == Arch::kI386 ? 0xc1000000 : 0xffffffff81000000;
    const auto image = symbols::read_linux_image(
        arch, {{{start}, text, text.size()}, {{start + 0x20000}, bytes, size + 0x1000}});
    if (!image) continue;
    const auto file = elf::ElfFile::from_bytes(symbols::make_elf(*image), "fuzzed");
    if (file) (void)(*file)->symbols();
  }
  return 0;
}
