#include "symbols/linux_image/orc_tables.h"

#include <algorithm>
#include <vector>

#include "base/little_endian.h"

namespace ringside::symbols {
namespace {

constexpr std::size_t kIpSize = 4;
constexpr std::size_t kEntrySize = 6;
constexpr std::size_t kMinRows = 10'000;  // small kernels have 100,000
constexpr std::size_t kMaxRuns = 1000;    // of 10,000 rows and more: of 40 MiB at least

struct Run {
  std::size_t begin;
  std::size_t rows;
};

// All lists of rising addresses in `code`, the longest first.
std::vector<Run> rising_runs(Bytes bytes, ImageAddr address, AddressRange code) {
  std::vector<Run> runs;
  std::size_t begin = 0;
  std::size_t rows = 0;
  ImageAddr before;
  for (std::size_t at = 0; at + kIpSize <= bytes.size(); at += kIpSize) {
    const auto distance = load<std::int32_t>(bytes, at);
    const ImageAddr target = address + at + static_cast<std::uint64_t>(std::int64_t{distance});
    const bool in_code = target >= code.begin && target <= code.end;
    if (in_code && rows > 0 && target >= before) {
      ++rows;
    } else {
      if (rows >= kMinRows && runs.size() < kMaxRuns) runs.push_back({begin, rows});
      begin = at;
      rows = in_code ? 1 : 0;
    }
    before = target;
  }
  if (rows >= kMinRows) runs.push_back({begin, rows});
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run& a, const Run& b) { return a.rows > b.rows; });
  return runs;
}

// Do the registers of all entries exist, and most frames hang on the stack pointer?
bool are_entries(Bytes entries) {
  constexpr unsigned kMaxRegister = 9;  // ORC_REG_SP_INDIRECT (arch/x86/include/asm/orc_types.h)
  constexpr unsigned kStackPointer = 5;
  std::size_t on_stack_pointer = 0;
  for (std::size_t at = 0; at < entries.size(); at += kEntrySize) {
    const auto registers = std::to_integer<unsigned>(entries[at + 4]);
    if ((registers & 15) > kMaxRegister || registers >> 4 > kMaxRegister) return false;
    on_stack_pointer += (registers & 15) == kStackPointer;
  }
  return on_stack_pointer * kEntrySize > entries.size() / 4;
}

}  // namespace

std::optional<OrcPlaces> find_orc(Bytes bytes, ImageAddr address, AddressRange code) {
  for (const Run& run : rising_runs(bytes, address, code)) {
    const std::size_t entries = run.begin + run.rows * kIpSize;
    const std::size_t size = run.rows * kEntrySize;
    if (size <= bytes.size() - entries && are_entries(bytes.subspan(entries, size)))
      return OrcPlaces{.ip_begin = run.begin, .entries_begin = entries, .end = entries + size};
  }
  return std::nullopt;
}

}  // namespace ringside::symbols
