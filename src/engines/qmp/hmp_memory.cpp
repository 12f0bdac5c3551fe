#include "engines/qmp/hmp_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/split.h"
#include "engines/gdb/protocol/hex.h"

namespace ringside::engines::qmp {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::size_t kDigitsOf32Bits = 8;

// "ffffc90000083d88:" for a machine of 64 bits, "c20fde8c:" for one of 32.
bool is_address(std::string_view word, std::uint64_t expected) {
  if (word.empty() || word.back() != ':') return false;
  word.remove_suffix(1);
  const auto said = gdb::parse_hex_number(word);
  const bool is_short = word.size() <= kDigitsOf32Bits;
  return said == (is_short ? expected & std::numeric_limits<std::uint32_t>::max() : expected);
}

}  // namespace

std::string dump_command(std::string_view dump, std::uint64_t address, std::size_t size) {
  const std::uint64_t start = address & ~(kWord - 1);
  // Not around the end of the address space.
  const std::uint64_t bytes = std::min<std::uint64_t>(
      address - start + size, std::numeric_limits<std::uint64_t>::max() - start);
  const std::uint64_t words = (bytes + kWord - 1) / kWord;
  return fmt::format("{} /{}gx {:#x}", dump, words, start);
}

std::size_t parse_dump(std::string_view text, std::uint64_t address,
                       std::span<std::byte> destination) {
  std::uint64_t at = address & ~(kWord - 1);
  std::size_t skip = address - at;
  std::size_t done = 0;
  while (!text.empty() && done < destination.size()) {
    std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    text.remove_prefix(line.size());
    text.remove_prefix(std::min(text.size(), text.find_first_not_of("\r\n")));
    if (!is_address(take_word(line), at)) return done;
    for (auto word = take_word(line); !word.empty() && done < destination.size();
         word = take_word(line)) {
      if (!word.starts_with("0x")) return done;  // "Cannot access memory"
      const auto value = gdb::parse_hex_number(word.substr(2));
      if (!value) return done;
      std::array<std::byte, kWord> bytes;
      std::memcpy(bytes.data(), &*value, kWord);
      const std::size_t size = std::min(kWord - skip, destination.size() - done);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(skip), size,
                  destination.begin() + static_cast<std::ptrdiff_t>(done));
      done += size;
      at += kWord;
      skip = 0;
    }
  }
  return done;
}

// "gpa: 0x546fea8" or "Unmapped" (monitor/hmp-cmds-target.c of QEMU 10.0).
std::optional<GuestPhys> parse_translation(std::string_view text) {
  constexpr std::string_view kBegin = "gpa: 0x";
  if (!text.starts_with(kBegin)) return std::nullopt;
  text.remove_prefix(kBegin.size());
  const auto value = gdb::parse_hex_number(text.substr(0, text.find_first_of("\r\n")));
  if (!value) return std::nullopt;
  return GuestPhys{*value};
}

}  // namespace ringside::engines::qmp
