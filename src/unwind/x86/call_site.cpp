#include "unwind/x86/call_site.h"

#include "base/little_endian.h"

namespace ringside::unwind::x86 {
namespace {

constexpr std::size_t kLongest = 7;
constexpr std::size_t kDirect = 5;  // e8 and 32 bits
constexpr std::byte kCall{0xe8};

// Nothing where the file has fewer bytes in front of `pc`.
Bytes bytes_before(const elf::ElfFile& file, ImageAddr pc, std::size_t size) {
  const Bytes code = file.bytes_at({pc.value - size}, size);
  return code.size() == size ? code : Bytes{};
}

}  // namespace

bool follows_call(const elf::ElfFile& file, ImageAddr pc) {
  if (called_from(file, pc)) return true;
  const Bytes code = bytes_before(file, pc, kLongest);
  if (code.empty()) return false;
  // ff /2 with a register; with memory: a SIB byte, a displacement of 1 or 4 bytes, or both (Intel
  // SDM volume 2, 2.1.5). A REX prefix stands before it.
  for (const std::size_t size : {2, 3, 4, 6, 7})
    if (code[kLongest - size] == std::byte{0xff} &&
        (code[kLongest - size + 1] & std::byte{0x38}) == std::byte{0x10})
      return true;
  return false;
}

std::optional<ImageAddr> called_from(const elf::ElfFile& file, ImageAddr pc) {
  const Bytes code = bytes_before(file, pc, kDirect);
  if (code.empty() || code.front() != kCall) return std::nullopt;
  const auto displacement = load<std::int32_t>(code, 1);
  return ImageAddr{pc.value + static_cast<std::uint64_t>(std::int64_t{displacement})};
}

bool has_direct_call(const elf::ElfFile& file, ImageAddr function) {
  constexpr std::byte kJump{0xe9};
  for (const elf::CodeRange& code : file.code())
    for (std::size_t at = 0; at + kDirect <= code.bytes.size(); ++at) {
      if (code.bytes[at] != kCall && code.bytes[at] != kJump) continue;
      const auto distance = static_cast<std::uint32_t>(load<std::int32_t>(code.bytes, at + 1));
      const auto next = static_cast<std::uint32_t>(code.address.value + at + kDirect);
      if (next + distance == static_cast<std::uint32_t>(function.value)) return true;
    }
  return false;
}

}  // namespace ringside::unwind::x86
