#include "profile/frame_table.h"

#include <algorithm>

#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

std::string sanitize_or_empty(std::string_view name) {
  return name.empty() ? std::string() : sanitize(name);
}

// Some inputs have neither an address nor a name.
std::string name_of_unknown(const recording::RecordedFrame& frame) {
  const bool has_address = frame.kind != FrameKind::kCode || frame.address.value != 0;
  return has_address ? unknown_name(frame.address) : "<unknown>";
}

}  // namespace

FrameTable::FrameTable(const Collector& collected, FrameNamer& namer, const BuildOptions& options,
                       Profile& profile)
    : collected_(collected),
      namer_(namer),
      options_(options),
      profile_(profile),
      interner_(profile),
      names_(collected.frames.size()) {}

void FrameTable::keep(std::uint32_t recorded, const NamedFrame& named) {
  for (std::size_t i = places_.size(); i < frames_.size(); ++i) {
    const std::size_t index = i - names_[recorded].first;
    Place place;
    if (index < named.lines.size() && named.lines[index].line != 0)
      place = {profile_.strings.intern(sanitize(named.lines[index].file)), named.lines[index].line};
    places_.push_back(place);
  }
  if (named.size != 0) symbols_[recorded] = {named.start, named.size};
}

std::span<const Place> FrameTable::places_of(std::uint32_t recorded) {
  if (!keeps_places_) return {};
  static_cast<void>(frames_of(recorded, false));
  const Names names = names_[recorded];
  return {&places_[names.first], names.count};
}

SymbolRange FrameTable::symbol_of(std::uint32_t recorded) {
  static_cast<void>(frames_of(recorded, false));
  const auto found = symbols_.find(recorded);
  return found == symbols_.end() ? SymbolRange() : found->second;
}

std::optional<std::string_view> FrameTable::file_of(std::uint32_t recorded) {
  static_cast<void>(frames_of(recorded, false));
  const auto found = file_of_.find(recorded);
  return found == file_of_.end() ? std::nullopt : std::optional(found->second);
}

FunctionId FrameTable::function_of(std::uint32_t recorded) {
  return profile_.frames[frames_of(recorded, false).front()].function;
}

std::span<const FrameId> FrameTable::find(std::uint32_t recorded, bool knows_mappings) {
  const recording::RecordedFrame& frame = collected_.frames[recorded];
  const bool is_anonymous = frame.kind == FrameKind::kUser && frame.image == 0;
  if (knows_mappings && is_anonymous) {
    const auto [it, added] = addresses_.try_emplace(recorded);
    if (added) it->second = placeholder(unknown_name(frame.address));
    return {&it->second, 1};
  }
  std::vector<FrameId> named;
  name(frame, named);
  if (options_.source_lines) add_lines(frame, named);
  Names& names = names_[recorded];
  names.first = static_cast<std::uint32_t>(frames_.size());
  names.count = static_cast<std::uint32_t>(named.size()) & 0x7fffffff;
  names.is_anonymous = is_anonymous ? 1 : 0;
  frames_.insert(frames_.end(), named.begin(), named.end());
  if (keeps_places_) keep(recorded, named_);
  if (!named_.functions.empty() && is_kernel(frame.kind))
    file_of_.emplace(recorded, *files_.insert(named_.file).first);
  return {&frames_[names.first], named.size()};
}

void FrameTable::name(const recording::RecordedFrame& frame, std::vector<FrameId>& out) {
  const auto image = collected_.images.find(frame.image);
  const auto mapping = collected_.mappings.find(frame.mapping);
  const bool has_image = image != collected_.images.end();
  const StringId image_name =
      has_image ? profile_.strings.intern(sanitize_or_empty(image->second.name)) : 0;
  NamedFrame& named = named_;
  named.functions.clear();
  named.lines.clear();
  named.size = 0;
  named.file.clear();
  if (frame.function != 0) {
    named.functions.push_back(namer_.shown(collected_.texts[frame.function]));
    named.lines.push_back({collected_.texts[frame.file], frame.line});
    out.push_back(interner_.intern(with_place(named, 0), image_name, static_cast<Kind>(frame.kind),
                                   frame.inlined));
    add_place(profile_.functions[profile_.frames[out.back()].function], named.lines.front());
    return;
  }
  if (has_image || is_kernel(frame.kind) || frame.kind == FrameKind::kFirmware) {
    namer_.name({frame, has_image ? &image->second : nullptr,
                 mapping != collected_.mappings.end() ? &mapping->second : nullptr},
                named);
    for (std::size_t i = 0; i < named.functions.size(); ++i) {
      out.push_back(interner_.intern(decorate(with_place(named, i), frame), image_name,
                                     static_cast<Kind>(frame.kind), i > 0));
      if (i < named.lines.size())
        add_place(profile_.functions[profile_.frames[out.back()].function], named.lines[i]);
    }
    if (!out.empty()) return;
  }
  if (!has_image && frame.kind == FrameKind::kUser)
    out.push_back(interner_.intern(decorate(std::string(kUserName), frame), 0, Kind::kUser, false));
  else if (!has_image && frame.kind == FrameKind::kGuest)
    out.push_back(
        interner_.intern(decorate(std::string(kGuestName), frame), 0, Kind::kGuest, false));
  else if (frame.kind == FrameKind::kFirmware)
    out.push_back(
        interner_.intern(decorate(std::string(kFirmwareName), frame), 0, Kind::kFirmware, false));
  else
    out.push_back(interner_.intern(name_of_unknown(frame), image_name, Kind::kUnknown, false));
}

std::string FrameTable::decorate(std::string name, const recording::RecordedFrame& frame) const {
  return options_.show_addresses ? with_address(name, frame.address) : name;
}

// The name of one of a frame's functions, with its source line if that is wanted and known.
std::string FrameTable::with_place(const NamedFrame& named, std::size_t index) const {
  std::string name = sanitize(named.functions[index]);
  if (!options_.show_lines || index >= named.lines.size()) return name;
  const SourceLine& place = named.lines[index];
  return place.line == 0 ? name : with_line(name, place.file, place.line);
}

void FrameTable::add_lines(const recording::RecordedFrame& frame, std::vector<FrameId>& out) {
  for (std::size_t i = 0; i < out.size(); ++i)
    if (const std::string line = source_line(frame, i); !line.empty())
      out[i] = interner_.at_line(out[i], profile_.strings.intern(line));
}

// The place of one of the functions that were found for the frame; empty: it is not known.
std::string FrameTable::source_line(const recording::RecordedFrame& frame,
                                    std::size_t index) const {
  // The function that was compiled there stands at the address, which may be of an inlined one.
  const std::size_t at = index == 0 ? named_.lines.size() - 1 : index;
  if (at < named_.lines.size() && named_.lines[at].line != 0)
    return source_place(named_.lines[at].file, named_.lines[at].line);
  if (index != 0 || named_.size == 0) return {};
  return fmt::format("{}+{}", sanitize(named_.functions.front()),
                     frame.address.value - named_.start.value);
}

void FrameTable::add_place(Function& function, const SourceLine& place) {
  if (place.line == 0) return;
  const StringId file = profile_.strings.intern(sanitize(place.file));
  // One file is shown, and the same one in whatever order frames are named.
  if (function.first_line == 0 || profile_.strings[file] < profile_.strings[function.file]) {
    function.file = file;
    function.first_line = function.last_line = place.line;
  } else if (function.file == file) {
    function.first_line = std::min(function.first_line, place.line);
    function.last_line = std::max(function.last_line, place.line);
  }
}

}  // namespace ringside::profile
