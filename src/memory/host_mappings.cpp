#include "memory/host_mappings.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/split.h"

namespace ringside::memory {
namespace {

bool read_number(std::string_view word, std::uint64_t& value, int base) {
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return parsed.ec == std::errc{} && parsed.ptr == word.data() + word.size();
}

// "7f1c8be00000-7f1cabe00000 rw-s 00000000 00:01 12345      /memfd:ram (deleted)"
std::optional<HostMapping> parse_mapping(std::string_view line) {
  HostMapping mapping;
  const std::string_view place = take_word(line);
  const std::size_t dash = place.find('-');
  if (dash == place.npos || !read_number(place.substr(0, dash), mapping.start, 16) ||
      !read_number(place.substr(dash + 1), mapping.end, 16) || mapping.end <= mapping.start)
    return std::nullopt;
  const std::string_view rights = take_word(line);
  if (!rights.starts_with("rw")) return std::nullopt;
  mapping.shared = rights.ends_with('s');
  if (!read_number(take_word(line), mapping.file_offset, 16)) return std::nullopt;
  (void)take_word(line);
  if (!read_number(take_word(line), mapping.inode, 10)) return std::nullopt;
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
  mapping.path = line;
  return mapping;
}

}  // namespace

std::vector<HostMapping> parse_mappings(std::string_view text) {
  std::vector<HostMapping> mappings;
  while (!text.empty()) {
    if (auto mapping = parse_mapping(take_line(text))) mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

const HostMapping* find_mapping(const std::vector<HostMapping>& mappings, std::uint64_t address,
                                std::uint64_t bytes) {
  for (const HostMapping& mapping : mappings)
    if (address >= mapping.start && address < mapping.end && bytes <= mapping.end - address)
      return &mapping;
  return nullptr;
}

std::vector<HostMapping> block_candidates(const std::vector<HostMapping>& mappings,
                                          std::uint64_t bytes) {
  std::vector<HostMapping> fitting;
  std::copy_if(
      mappings.begin(), mappings.end(), std::back_inserter(fitting),
      [bytes](const HostMapping& mapping) { return mapping.end - mapping.start >= bytes; });
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const auto& a, const auto& b) { return a.end - a.start < b.end - b.start; });
  return fitting;
}

}  // namespace ringside::memory
