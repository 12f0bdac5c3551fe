#include "exporters/perf/perf_images.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "elf/image_map.h"
#include "exporters/parts/symbol_ranges.h"
#include "exporters/perf/perf_identity.h"
#include "exporters/perf/perf_record.h"
#include "profile/sanitize.h"
#include "views/owner.h"

namespace ringside::exporters::perf {
namespace {

using profile::DetailedFrame;

constexpr std::uint64_t kPage = 0x1000;
// Above the user half of every architecture, below the kernel's, so that no address of the guest is
// meant by mistake. Images are twice their size apart.
constexpr std::uint64_t kUserBase = std::uint64_t{1} << 52;
constexpr std::uint64_t kWindow = std::uint64_t{1} << 32;

std::uint64_t window_of(std::uint32_t index) { return kUserBase + 2 * kWindow * index; }

}  // namespace

PerfImages::PerfImages(profile::DetailedProfile& profile, bool shows_idle)
    : profile_(profile), shows_idle_(shows_idle) {
  for (const auto& [id, mapping] : profile_.mappings()) {
    if (mapping.start >= mapping.end) continue;
    const auto [range, added] =
        ranges_.try_emplace(mapping.image, std::pair(mapping.start.value, mapping.end.value));
    range->second.first = std::min(range->second.first, mapping.start.value);
    range->second.second = std::max(range->second.second, mapping.end.value);
  }
  for (std::uint32_t group = 0; group < profile_.group_count(); ++group) {
    if (!shows(group)) continue;
    const bool is_idle = profile_.owner_of(group).disposition == wire::Disposition::kIdle;
    if (is_idle && !idle_) idle_ = place_of_name(profile::kIdleName, true);
    for (const profile::StackEntry& entry : profile_.stack_of(group)) add(entry);
  }
  const std::size_t count = drafts_.size();
  for (std::uint32_t index = 0; index < count; ++index)
    if (!drafts_[index].is_kernel && drafts_[index].info != nullptr) move_far_frames(index);
  move_hidden_kernels();
  images_.resize(drafts_.size());
  for (std::uint32_t index = 0; index < images_.size(); ++index) {
    name_image(index);
    if (drafts_[index].info == nullptr)
      finish_names(index);
    else if (!drafts_[index].frames.empty())
      finish(index);
    identify(index);
    drafts_[index].frames = {};
  }
}

bool PerfImages::shows(std::uint32_t group) const {
  return profile_.has_group(group) && views::is_shown(profile_.owner_of(group), shows_idle_);
}

PerfPlace& PerfImages::slot(std::uint32_t frame, bool knows_mappings) {
  std::vector<PerfPlace>& places = places_[knows_mappings ? 1 : 0];
  if (frame >= places.size()) places.resize(frame + 1);
  return places[frame];
}

void PerfImages::add(const profile::StackEntry& entry) {
  std::vector<bool>& is_placed = is_placed_[entry.knows_mappings ? 1 : 0];
  if (entry.frame >= is_placed.size()) is_placed.resize(entry.frame + 1);
  if (is_placed[entry.frame]) return;
  is_placed[entry.frame] = true;
  const DetailedFrame frame = profile_.frame(entry);
  const bool is_kernel = frame.kind != profile::Kind::kUser;
  const std::string_view name = profile_.profile().name(frame.functions.front());
  PerfPlace& place = slot(entry.frame, entry.knows_mappings);
  if (frame.image == nullptr || frame.address.value == 0) {
    place = place_of_name(name, is_kernel);
    return;
  }
  Seen seen;
  seen.start = frame.symbol.start.value;
  seen.size = frame.symbol.size;
  seen.address = symbol_address(frame);
  seen.name = strings_.intern(name);
  seen.frame = entry.frame;
  seen.knows_mappings = entry.knows_mappings;
  place.image = draft_of(frame.image, is_kernel);
  place.is_kernel = is_kernel;
  drafts_[place.image].frames.push_back(seen);
}

std::uint32_t PerfImages::draft_of(const recording::ImageInfo* info, bool is_kernel) {
  const std::uint32_t id = info != nullptr ? info->id : 0;
  const auto [entry, added] =
      draft_ids_.try_emplace({id, is_kernel}, static_cast<std::uint32_t>(drafts_.size()));
  if (added) drafts_.push_back({info, is_kernel, {}, {}});
  return entry->second;
}

PerfPlace PerfImages::place_of_name(std::string_view name, bool is_kernel) {
  const std::uint32_t index = draft_of(nullptr, is_kernel);
  std::map<profile::StringId, std::uint64_t>& names = drafts_[index].names;
  const std::uint64_t base = is_kernel ? kNamesStart : window_of(index);
  const auto entry =
      names.try_emplace(strings_.intern(name), base + kNameSize * names.size()).first;
  return {entry->second, index, is_kernel};
}

void PerfImages::move_far_frames(std::uint32_t index) {
  std::vector<Seen> frames = std::move(drafts_[index].frames);
  std::sort(frames.begin(), frames.end(), lower);
  const std::uint64_t low = frames.front().address & ~(kPage - 1);
  const auto far = std::find_if(frames.begin(), frames.end(),
                                [&](const Seen& seen) { return seen.address - low >= kWindow; });
  for (auto seen = far; seen != frames.end(); ++seen)
    slot(seen->frame, seen->knows_mappings) = place_of_name(strings_[seen->name], false);
  frames.erase(far, frames.end());
  drafts_[index].frames = std::move(frames);
}

// perf has one image for an address at all times. A guest that boots again may have its kernel
// where that of the boot before had other code: the one with the most frames keeps its place.
void PerfImages::move_hidden_kernels() {
  std::vector<std::uint32_t> kernels;
  for (std::uint32_t index = 0; index < drafts_.size(); ++index)
    if (drafts_[index].is_kernel && drafts_[index].info != nullptr) kernels.push_back(index);
  std::stable_sort(kernels.begin(), kernels.end(), [this](std::uint32_t a, std::uint32_t b) {
    return drafts_[a].frames.size() > drafts_[b].frames.size();
  });
  std::map<std::uint64_t, std::uint64_t> taken;  // ends, by start
  for (const std::uint32_t index : kernels) {
    std::vector<Seen>& frames = drafts_[index].frames;
    std::sort(frames.begin(), frames.end(), lower);
    PerfImage range;
    range.is_kernel = true;
    set_range(drafts_[index], range);
    const auto after = taken.lower_bound(range.end);
    if (after == taken.begin() || std::prev(after)->second <= range.start) {
      taken[range.start] = range.end;
      continue;
    }
    for (const Seen& seen : std::exchange(frames, {}))
      slot(seen.frame, seen.knows_mappings) = place_of_name(strings_[seen.name], true);
  }
}

void PerfImages::finish(std::uint32_t index) {
  Draft& draft = drafts_[index];
  PerfImage& image = images_[index];
  std::sort(draft.frames.begin(), draft.frames.end(), lower);
  set_range(draft, image);
  if (!image.is_kernel) {
    image.file_start = window_of(index);
    image.bias = image.file_start - (image.start & ~(kWindow - 1));
  }
  SymbolRanges ranges(image.start, image.end);
  for (const Seen& seen : draft.frames) {
    ranges.add(seen.address, seen.start, seen.size, seen.name);
    slot(seen.frame, seen.knows_mappings).address = seen.address + image.bias;
  }
  image.symbols = ranges.take();
  for (FrameSymbol& symbol : image.symbols)
    for (std::uint64_t* const address :
         {&symbol.start, &symbol.end, &symbol.first_frame, &symbol.last_frame})
      *address += image.bias;
  image.start += image.bias;
  image.end += image.bias;
}

// As the frames have addresses, without bias.
void PerfImages::set_range(const Draft& draft, PerfImage& image) const {
  const std::uint64_t first = draft.frames.front().address;
  const std::uint64_t last = draft.frames.back().address;
  image.start = first & ~(kPage - 1);
  image.end = std::max(last, (last | (kPage - 1)) + 1);
  if (!image.is_kernel) return;
  const auto range = ranges_.find(draft.info->id);
  if (range == ranges_.end()) return;
  image.start = std::min(image.start, range->second.first);
  image.end = std::max(image.end, range->second.second);
}

void PerfImages::finish_names(std::uint32_t index) {
  PerfImage& image = images_[index];
  image.start = image.is_kernel ? kNamesStart : window_of(index);
  image.file_start = image.is_kernel ? 0 : image.start;
  image.end = image.start;
  for (const auto& [name, address] : drafts_[index].names) {
    image.symbols.push_back({address, address + kNameSize, name, address, address});
    image.end = std::max(image.end, address + kNameSize);
  }
  image.end = (image.end + kPage - 1) & ~(kPage - 1);
  std::sort(image.symbols.begin(), image.symbols.end(),
            [](const FrameSymbol& a, const FrameSymbol& b) { return a.start < b.start; });
}

void PerfImages::name_image(std::uint32_t index) {
  const Draft& draft = drafts_[index];
  PerfImage& image = images_[index];
  image.is_kernel = draft.is_kernel;
  const std::string path = dso_path(draft.info, draft.is_kernel);
  image.path = path;
  while (!paths_.try_emplace(image.path, 1).second)
    image.path = numbered_dso_path(path, ++paths_[path]);
}

void PerfImages::identify(std::uint32_t index) {
  PerfImage& image = images_[index];
  if (drafts_[index].info != nullptr) image.build_id = drafts_[index].info->build_id;
  image.build_id.resize(std::min(image.build_id.size(), kMostBuildId));
  constexpr std::size_t kLeastBuildId = 4;  // bytes; less is no file's name
  if (image.build_id.size() < kLeastBuildId || build_ids_.count(image.build_id) != 0) {
    Fingerprint print;
    print.add(image.path);
    for (const std::byte part : image.build_id) print.add(static_cast<std::uint64_t>(part));
    if (drafts_[index].info != nullptr) print.add(drafts_[index].info->code_hash);
    for (const FrameSymbol& symbol : image.symbols) {
      print.add(symbol.start);
      print.add(strings_[symbol.name]);
    }
    image.build_id = print.build_id();
  }
  build_ids_.insert(image.build_id);
}

}  // namespace ringside::exporters::perf
