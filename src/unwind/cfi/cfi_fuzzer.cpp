// Call-frame tables from outside, without the ELF file around them, and stacks that are walked by
// them: an input is a byte of flags, the addresses of the table and of the code (8 bytes each), and
// .eh_frame or .debug_frame.

#include <elf.h>

#include <cstddef>
#include <cstdint>

#include "arch/arch_info.h"
#include "base/little_endian.h"
#include "elf/elf_writer.h"
#include "unwind/cfi/table.h"
#include "unwind/fuzzed_stack.h"
#include "unwind/unwinder.h"

namespace {

using namespace ringside;

constexpr std::size_t kHead = 17;
constexpr std::uint64_t kTextSize = 0x600;
constexpr std::uint64_t kProbe = 12;    // bytes between two addresses that are looked up
constexpr std::uint64_t kWalked = 240;  // and between two that are unwound from
constexpr unsigned kDebugFrame = 4;     // above the two bits of the architecture
constexpr const arch::ArchInfo* kPlatforms[] = {&arch::kX86_64Info, &arch::kI386Info,
                                                &arch::kAArch64Info, &arch::kRiscv64Info};

std::uint64_t u64_at(Bytes bytes, std::size_t offset) {
  const auto value = load<std::uint64_t>(bytes, offset);
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input(reinterpret_cast<const std::byte*>(data), size);
  if (size < kHead) return 0;
  const unsigned flags = data[0];
  const arch::ArchInfo& platform = *kPlatforms[flags & 3];
  const ImageAddr text{u64_at(input, 9)};
  const std::vector<std::byte> code(kTextSize, std::byte{0xc3});  // ret, for x86
  elf::ElfWriter writer(platform.id, platform.id != Arch::kI386, ET_EXEC);
  writer.add_segment(text, kTextSize, true, false, code);
  const bool debug_frame = (flags & kDebugFrame) != 0;
  writer.add_section(debug_frame ? ".debug_frame" : ".eh_frame", SHT_PROGBITS,
                     debug_frame ? 0 : SHF_ALLOC, {u64_at(input, 1)}, input.subspan(kHead));
  const auto file = elf::ElfFile::from_bytes(writer.write(), "fuzzed");
  if (!file) return 0;
  unwind::cfi::Table table(*file, platform);
  elf::ImageMap images;
  images.add({.id = 1, .name = "fuzzed", .file = *file, .load_bias = 0});
  unwind::Unwinder unwinder(images);
  for (std::uint64_t offset = 0; offset < kTextSize; offset += kProbe) {
    (void)table.find(text + offset);
    (void)table.find_compact(text + offset);
    if (offset % kWalked == 0)
      (void)unwinder.unwind(unwind::capture_at(platform, (text + offset).value, input));
  }
  return 0;
}
