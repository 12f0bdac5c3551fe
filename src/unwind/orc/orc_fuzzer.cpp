// ORC tables from outside, and stacks that are walked by them: an input is a byte of flags, the
// number of rows (2 bytes), .orc_unwind_ip and .orc_unwind of so many rows, and the stack.

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "arch/arch_info.h"
#include "base/little_endian.h"
#include "elf/elf_writer.h"
#include "unwind/fuzzed_stack.h"
#include "unwind/orc/table.h"
#include "unwind/unwinder.h"

namespace {

using namespace ringside;

constexpr ImageAddr kText{0xffffffff81000000};
constexpr std::uint64_t kTextSize = 0x1000;
constexpr ImageAddr kTables{0xffffffff82000000};
constexpr ImageAddr kEntries{0xffffffff82100000};
constexpr std::size_t kMaxPcs = 16;
enum : unsigned { kHasHeader = 1, kLongerEntries = 2 };

struct Input {
  unsigned flags = 0;
  Bytes ip;
  Bytes entries;
  Bytes stack;
};

Input split(Bytes bytes) {
  Input input;
  if (bytes.size() < 3) return input;
  input.flags = std::to_integer<unsigned>(bytes[0]);
  const std::size_t rows =
      std::to_integer<std::size_t>(bytes[1]) | std::to_integer<std::size_t>(bytes[2]) << 8;
  bytes = bytes.subspan(3);
  const auto take = [&](std::size_t size) {
    const Bytes taken = bytes.first(std::min(size, bytes.size()));
    bytes = bytes.subspan(taken.size());
    return taken;
  };
  input.ip = take(rows * 4);
  input.entries = take(rows * 6 + ((input.flags & kLongerEntries) != 0 ? 6 : 0));
  input.stack = bytes;
  return input;
}

std::vector<std::byte> kernel_with(const Input& input) {
  // All of it `ret`, so that where ORC knows nothing reading the code costs next to nothing.
  const std::vector<std::byte> code(kTextSize, std::byte{0xc3});
  const std::vector<std::byte> header(20);
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment(kText, kTextSize, true, false, code);
  if ((input.flags & kHasHeader) != 0)
    writer.add_section(".orc_header", SHT_PROGBITS, SHF_ALLOC, kTables - 32, header);
  writer.add_section(".orc_unwind_ip", SHT_PROGBITS, SHF_ALLOC, kTables, input.ip);
  writer.add_section(".orc_unwind", SHT_PROGBITS, SHF_ALLOC, kEntries, input.entries);
  return writer.write();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const Input input = split({bytes, bytes + size});
  const auto file = elf::ElfFile::from_bytes(kernel_with(input), "fuzzed");
  if (!file) return 0;
  const auto table = unwind::orc::Table::from_elf(**file);
  elf::ImageMap images;
  images.add({.id = 1, .name = "fuzzed", .file = *file, .load_bias = 0});
  unwind::Unwinder unwinder(images);
  for (std::size_t i = 0; i < std::min(kMaxPcs, input.ip.size() / 4); ++i) {
    const auto distance = load<std::int32_t>(input.ip, i * 4);
    const ImageAddr pc{kTables.value + i * 4 + static_cast<std::uint64_t>(std::int64_t{distance})};
    if (table) {
      (void)table->find(pc);
      (void)table->find_compact(pc);
    }
    (void)unwinder.unwind(unwind::capture_at(arch::kX86_64Info, pc.value, input.stack));
  }
  return 0;
}
