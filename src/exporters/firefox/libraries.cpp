#include "exporters/firefox/libraries.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "base/text.h"

namespace ringside::exporters::firefox {
namespace {

// A build id as Breakpad has it: its first 16 bytes as a GUID, whose first three numbers are
// little-endian, and an age of 0.
std::string breakpad_id(const std::vector<std::byte>& build_id) {
  if (build_id.empty()) return {};
  constexpr std::size_t kOrder[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  std::string text;
  for (const std::size_t index : kOrder)
    text += fmt::format("{:02X}",
                        index < build_id.size() ? std::to_integer<unsigned>(build_id[index]) : 0);
  return text + "0";
}

}  // namespace

Libraries::Libraries(const profile::DetailedProfile& profile) {
  for (const auto& [id, mapping] : profile.mappings()) {
    Range& range = ranges_[mapping.image];
    range.start = std::min(range.start, mapping.start.value);
    range.end = std::max(range.end, mapping.end.value);
  }
}

std::int32_t Libraries::index_of(const recording::ImageInfo* image) {
  if (image == nullptr) return -1;
  const auto [entry, added] =
      ids_.try_emplace(image->id, static_cast<std::int32_t>(images_.size()));
  if (added) images_.push_back(image);
  return entry->second;
}

std::int64_t Libraries::address_in(const recording::ImageInfo& image, GuestVirt address) const {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  const auto range = ranges_.find(image.id);
  const bool is_mapped_there = range != ranges_.end() && address.value >= range->second.start &&
                               address.value < range->second.end;
  const std::uint64_t start = is_mapped_there ? range->second.start : image.load_bias;
  const std::uint64_t offset = address.value - start;
  return offset < kExact ? static_cast<std::int64_t>(offset) : -1;
}

void Libraries::write(JsonText& json) const {
  json.add_text("\"libs\":[");
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const recording::ImageInfo& image = *images_[i];
    const std::string name = json_string(image.name);
    const std::string path = json_string(image.path.empty() ? image.name : image.path);
    const std::string code_id =
        image.build_id.empty() ? "null" : json_string(hex_text(image.build_id));
    json.add(
        R"({}{{"arch":"{}","name":{},"path":{},"debugName":{},"debugPath":{},"breakpadId":"{}","codeId":{}}})",
        i == 0 ? "" : ",", arch::name_of(image.arch), name, path, name, path,
        breakpad_id(image.build_id), code_id);
  }
  json.add_text("]");
}

}  // namespace ringside::exporters::firefox
