#include "importers/firefox/table_stacks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arch/arch_info.h"
#include "base/whole_number.h"
#include "profile/sanitize.h"

namespace ringside::importers::firefox {
namespace {

using recording::RecordedFrame;
using recording::Writer;

// A build id in hexadecimal digits, as ELF files have it: 8 to 20 bytes. Others, for instance
// Windows' ids, are none.
std::vector<std::byte> build_id(std::string_view digits) {
  if (digits.size() < 16 || digits.size() > 40 || digits.size() % 2 != 0) return {};
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto byte = whole_number<std::uint8_t>(digits.substr(i, 2), 16);
    if (!byte) return {};
    bytes.push_back(static_cast<std::byte>(*byte));
  }
  return bytes;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  return whole_number<std::uint64_t>(text.substr(2), 16);
}

// "<unknown:0x1c>", as ringside shows a frame without a name.
std::optional<std::uint64_t> unknown_address(std::string_view name) {
  constexpr std::string_view kBegin = "<unknown:";
  if (!name.starts_with(kBegin) || !name.ends_with('>')) return std::nullopt;
  return hexadecimal(name.substr(kBegin.size(), name.size() - kBegin.size() - 1));
}

// The value of a column, or kNoIndex where the flags say that it has none there.
std::uint32_t flagged(const Column<std::uint32_t>& column, const Column<std::uint32_t>& flags,
                      std::uint32_t flag, std::uint32_t index) {
  const bool has_value = (at_or(flags, index, kNoIndex) & flag) != 0;
  return has_value ? at_or(column, index, kNoIndex) : kNoIndex;
}

}  // namespace

FrameKind kind_of_category(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, FrameKind>, 5> kKinds = {
      {{"Kernel", FrameKind::kKernel},
       {"User", FrameKind::kUser},
       {"Interrupt", FrameKind::kInterrupt},
       {"Firmware", FrameKind::kFirmware},
       {"Guest", FrameKind::kGuest}}};
  const auto* const found = std::find_if(kKinds.begin(), kKinds.end(),
                                         [&](const auto& kind) { return kind.first == name; });
  return found == kKinds.end() ? FrameKind::kCode : found->second;
}

Result<std::uint32_t> Images::of_library(std::uint32_t library, Writer& writer) {
  std::uint32_t& id = of_library_[library];
  if (id != 0) return id;
  const Library& from = profile_.libraries[library];
  recording::ImageInfo image;
  image.name = from.name;
  if (from.path != from.name) image.path = from.path;
  image.build_id = build_id(from.code_id);
  image.arch = from.arch == "arm64" ? Arch::kAArch64 : arch::arch_named(from.arch);
  RINGSIDE_ASSIGN(id, writer.add_image(image));
  return id;
}

Result<std::uint32_t> Images::of_resource(std::string_view name, Writer& writer) {
  const auto found = of_resource_.find(name);
  if (found != of_resource_.end()) return found->second;
  if (of_resource_.size() == kMostResources) return 0;
  recording::ImageInfo image;
  image.name = name;
  RINGSIDE_ASSIGN(const std::uint32_t id, writer.add_image(image));
  of_resource_.emplace(name, id);
  return id;
}

TableStacks::TableStacks(const Profile& profile, const Tables& tables, Images& images)
    : profile_(profile),
      tables_(tables),
      strings_(tables.strings.size() != 0 ? tables.strings : profile.shared.strings),
      images_(images) {}

std::string_view TableStacks::category_of(std::uint32_t frame) const {
  const std::uint32_t category =
      flagged(tables_.frame_categories, tables_.frame_flags, kFrameHasCategory, frame);
  return category < profile_.meta.categories.size() ? profile_.meta.categories[category]
                                                    : std::string_view();
}

std::int64_t TableStacks::address_of(std::uint32_t frame) const {
  const bool has_address = (at_or(tables_.frame_flags, frame, kNoIndex) & kFrameHasAddress) != 0;
  return has_address ? at_or(tables_.frame_addresses, frame, std::int64_t{-1}) : -1;
}

bool TableStacks::is_inlined(std::uint32_t frame) const {
  const std::uint32_t flags = at_or(tables_.frame_flags, frame, kNoIndex);
  if (flags != kNoIndex) return (flags & kFrameIsInlined) != 0;
  const std::uint32_t depth = at_or(tables_.frame_depths, frame, kNoIndex);
  return depth != 0 && depth != kNoIndex;
}

// That of the frame, else where its function begins; 0 where neither is known.
std::uint32_t TableStacks::line_of(std::uint32_t frame, std::uint32_t function) const {
  std::uint32_t line = flagged(tables_.frame_lines, tables_.frame_flags, kFrameHasLine, frame);
  if (line == kNoIndex)
    line = flagged(tables_.function_lines, tables_.function_flags, kFunctionHasLine, function);
  return line == kNoIndex ? 0 : line;
}

std::uint32_t TableStacks::library_of(std::uint32_t frame, std::uint32_t resource) const {
  const std::uint32_t library =
      flagged(tables_.frame_libraries, tables_.frame_flags, kFrameHasAddress, frame);
  return library != kNoIndex ? library : at_or(tables_.resource_libraries, resource, kNoIndex);
}

// Files have been in a table of their own since version 58.
std::string_view TableStacks::file_of(std::uint32_t function) const {
  const std::uint32_t source =
      flagged(tables_.function_sources, tables_.function_flags, kFunctionHasSource, function);
  const std::uint32_t file = at_or(profile_.shared.source_files, source,
                                   at_or(tables_.function_files, function, kNoIndex));
  return string_at(file);
}

Result<std::uint32_t> TableStacks::image_of(std::uint32_t frame, std::uint32_t function,
                                            Writer& writer) {
  const std::uint32_t resource =
      flagged(tables_.function_resources, tables_.function_flags, kFunctionHasResource, function);
  const std::uint32_t library = library_of(frame, resource);
  if (library < profile_.libraries.size()) return images_.of_library(library, writer);
  const std::string_view name = string_at(at_or(tables_.resource_names, resource, kNoIndex));
  if (name.empty()) return 0;
  return images_.of_resource(name, writer);
}

Result<RecordedFrame> TableStacks::make_frame(std::uint32_t index, Writer& writer) {
  RecordedFrame frame;
  frame.exact = true;  // addresses are of the calls already
  frame.kind = kind_of_category(category_of(index));
  const std::uint32_t function = tables_.frame_functions[index];
  const std::int64_t address = address_of(index);
  if (address >= 0) frame.address.value = static_cast<std::uint64_t>(address);
  const std::string_view name = string_at(at_or(tables_.function_names, function, kNoIndex));
  RINGSIDE_ASSIGN(frame.image, image_of(index, function, writer));
  // User code of no image would lose its address.
  const bool can_be_nameless = frame.image != 0 || frame.kind != FrameKind::kUser;
  const auto unknown =
      profile_.is_of_ringside() && can_be_nameless ? unknown_address(name) : std::nullopt;
  if (unknown) {
    frame.address.value = *unknown;
    return frame;
  }
  if (address >= 0 && hexadecimal(name) == frame.address.value) return frame;
  RINGSIDE_ASSIGN(frame.function, writer.add_text(name));
  frame.inlined = is_inlined(index);
  const std::string_view file = file_of(function);
  if (file.empty()) return frame;
  RINGSIDE_ASSIGN(frame.file, writer.add_text(file));
  frame.line = line_of(index, function);
  return frame;
}

bool TableStacks::is_idle(std::uint32_t node) const {
  return profile_.is_of_ringside() && category_of(frame(node)) == "Idle";
}

}  // namespace ringside::importers::firefox
