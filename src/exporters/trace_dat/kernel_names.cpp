#include "exporters/trace_dat/kernel_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "exporters/trace_dat/safe_text.h"

namespace ringside::exporters::trace_dat {
namespace {

constexpr std::uint64_t kNamesSize = kNameSize << 32;
// Readers take an address that ends like this for the end of a stack, whatever stands above.
constexpr std::uint64_t kEndMark = 0xffffffff;

}  // namespace

KernelNames::KernelNames(profile::DetailedProfile& profile) : profile_(profile) {
  for (std::uint32_t group = 0; group < profile.group_count(); ++group) {
    if (!profile.has_group(group) ||
        profile.owner_of(group).disposition != wire::Disposition::kSampled)
      continue;
    for (const profile::StackEntry& entry : profile.stack_of(group)) {
      std::vector<bool>& is_placed = is_placed_[entry.knows_mappings ? 1 : 0];
      std::vector<std::uint64_t>& addresses = addresses_[entry.knows_mappings ? 1 : 0];
      if (entry.frame >= addresses.size()) {
        addresses.resize(entry.frame + 1);
        is_placed.resize(entry.frame + 1);
      }
      if (is_placed[entry.frame]) continue;
      is_placed[entry.frame] = true;
      const profile::DetailedFrame frame = profile.frame(entry);
      if (frame.kind != profile::Kind::kUser) addresses[entry.frame] = place(frame);
    }
  }
  make_kallsyms();
}

std::uint64_t KernelNames::place(const profile::DetailedFrame& frame) {
  Seen seen;
  seen.start = frame.symbol.start.value;
  seen.size = frame.symbol.size;
  seen.address = symbol_address(frame);
  seen.name = strings_.intern(symbol_word(profile_.profile().name(frame.functions.front())));
  const bool is_usable = seen.address != 0 && (seen.address & kEndMark) != kEndMark &&
                         seen.address - kNamesStart >= kNamesSize;
  if (!is_usable || taken_.try_emplace(seen.address, seen.name).first->second != seen.name)
    return address_of_name(seen.name);
  seen_.push_back(seen);
  return seen.address;
}

std::uint64_t KernelNames::address_of_name(profile::StringId name) {
  const auto [entry, added] = names_.try_emplace(name, kNamesStart + kNameSize * names_.size());
  if (added) seen_.push_back({entry->second, entry->second, kNameSize, name});
  return entry->second;
}

void KernelNames::make_kallsyms() {
  std::sort(seen_.begin(), seen_.end(),
            [](const Seen& a, const Seen& b) { return a.address < b.address; });
  SymbolRanges ranges(1, ~std::uint64_t{0});
  for (const Seen& seen : seen_) ranges.add(seen.address, seen.start, seen.size, seen.name);
  const auto out = std::back_inserter(kallsyms_);
  std::uint64_t end = 0;
  for (const FrameSymbol& symbol : ranges.take()) {
    fmt::format_to(out, "{:016x} t {}\n", symbol.start, strings_[symbol.name]);
    end = symbol.end;
  }
  // libtraceevent gives the last name of all to its first byte only.
  if (end != 0) fmt::format_to(out, "{:016x} t _end\n", end);
  seen_ = {};
  taken_ = {};
}

}  // namespace ringside::exporters::trace_dat
