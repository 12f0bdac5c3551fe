#include "exporters/firefox/stack_tables.h"

#include "profile/sanitize.h"

namespace ringside::exporters::firefox {
namespace {

using profile::DetailedFrame;

std::string number_or_null(std::int64_t number) {
  return number < 0 ? "null" : fmt::format("{}", number);
}

}  // namespace

StackTables::StackTables(profile::DetailedProfile& profile)
    : profile_(profile), libraries_(profile), stacks_(profile.group_count(), kNotYet) {}

std::uint32_t StackTables::make_stack(std::uint32_t group) {
  std::uint32_t above = 0;
  const std::span<const profile::StackEntry> entries = profile_.stack_of(group);
  for (std::size_t i = entries.size(); i-- > 0;) {
    const Location location = location_of(entries[i]);
    for (std::uint32_t j = 0; j < location.count; ++j)
      above = nodes_.intern(above, location.first + j) + 1;
  }
  if (above == 0) above = nodes_.intern(0, idle_frame()) + 1;
  return above - 1;
}

StackTables::Location StackTables::location_of(const profile::StackEntry& entry) {
  const std::uint32_t id = location_ids_.intern(entry.frame, entry.knows_mappings ? 1 : 0);
  if (id == locations_.size()) locations_.push_back(make_location(profile_.frame(entry)));
  return locations_[id];
}

StackTables::Location StackTables::make_location(const DetailedFrame& frame) {
  const profile::Profile& all = profile_.profile();
  const auto first = static_cast<std::uint32_t>(frames_.size());
  FrameRow row;
  const std::int32_t library = libraries_.index_of(frame.image);
  if (frame.image != nullptr)
    row.address = libraries_.address_in(*frame.image, frame.lookup_address());
  if (frame.id != 0) row.category = category_of(frame.kind);
  row.symbol = symbol_of(frame, library, strings_.intern(all.name(frame.functions.front())));
  for (std::size_t i = 0; i < frame.functions.size(); ++i) {
    const profile::Place place = frame.place(i);
    row.function =
        function_of({strings_.intern(all.name(frame.functions[i])), library, file_of(place.file)});
    row.line = place.line;
    row.depth = static_cast<std::uint32_t>(i);
    frames_.push_back(row);
  }
  return {first, static_cast<std::uint32_t>(frames_.size()) - first};
}

std::uint32_t StackTables::idle_frame() {
  if (idle_frame_ != kNotYet) return idle_frame_;
  FrameRow row;
  row.function = function_of({strings_.intern(profile::kIdleName), -1, -1});
  row.category = Category::kIdle;
  idle_frame_ = static_cast<std::uint32_t>(frames_.size());
  frames_.push_back(row);
  return idle_frame_;
}

std::uint32_t StackTables::function_of(const FunctionRow& row) {
  const std::uint32_t place = places_.intern(static_cast<std::uint32_t>(row.library + 1),
                                             static_cast<std::uint32_t>(row.file + 1));
  const std::uint32_t id = function_ids_.intern(row.name, place);
  if (id == functions_.size()) functions_.push_back(row);
  return id;
}

std::int32_t StackTables::file_of(profile::StringId file) {
  if (file == 0) return -1;
  const auto [entry, added] = file_ids_.try_emplace(file, static_cast<std::int32_t>(files_.size()));
  if (added) files_.push_back(strings_.intern(profile_.profile().strings[file]));
  return entry->second;
}

std::int32_t StackTables::symbol_of(const DetailedFrame& frame, std::int32_t library,
                                    profile::StringId name) {
  if (library < 0 || frame.symbol.size == 0) return -1;
  const std::int64_t address = libraries_.address_in(*frame.image, frame.symbol.start);
  if (address < 0) return -1;
  const auto [entry, added] = symbol_ids_.try_emplace({library, frame.symbol.start.value},
                                                      static_cast<std::int32_t>(symbols_.size()));
  if (added)
    symbols_.push_back({library, static_cast<std::uint64_t>(address), name, frame.symbol.size});
  return entry->second;
}

void StackTables::write(JsonText& json) {
  libraries_.write(json);
  json.add_text(",\"shared\":{");
  write_stacks(json);
  write_frames(json);
  write_functions(json);
  write_resources(json);
  write_symbols(json);
  write_files(json);
  json.column("stringArray", strings_.size(), [&](std::size_t i) {
    json.add_text(json_string(strings_[static_cast<profile::StringId>(i)]));
  });
  json.add_text(R"("sourceLocationTable":{"source":[],"line":[],"column":[],"length":0}})");
}

void StackTables::write_stacks(JsonText& json) const {
  json.add_text("\"stackTable\":{");
  json.column("frame", nodes_.size(), [&](std::size_t i) { json.add("{}", nodes_.second(i)); });
  json.column("prefixOffset", nodes_.size(), [&](std::size_t i) {
    const std::uint32_t parent = nodes_.first(i);
    json.add("{}", parent == 0 ? 0 : i + 1 - parent);
  });
  json.add("\"length\":{}}},", nodes_.size());
}

void StackTables::write_frames(JsonText& json) const {
  const std::size_t count = frames_.size();
  json.add_text("\"frameTable\":{");
  json.column("address", count, [&](std::size_t i) { json.add("{}", frames_[i].address); });
  json.column("inlineDepth", count, [&](std::size_t i) { json.add("{}", frames_[i].depth); });
  json.column("category", count,
              [&](std::size_t i) { json.add("{}", static_cast<unsigned>(frames_[i].category)); });
  json.constant("subcategory", count, "0");
  json.column("func", count, [&](std::size_t i) { json.add("{}", frames_[i].function); });
  json.column("nativeSymbol", count,
              [&](std::size_t i) { json.add_text(number_or_null(frames_[i].symbol)); });
  json.constant("innerWindowID", count, "0");
  json.column("line", count, [&](std::size_t i) {
    json.add_text(number_or_null(frames_[i].line == 0 ? -1 : std::int64_t{frames_[i].line}));
  });
  json.constant("column", count, "null");
  json.constant("originalLocation", count, "null");
  json.add("\"length\":{}}},", count);
}

// One resource a library, with the library's index.
void StackTables::write_functions(JsonText& json) const {
  const std::size_t count = functions_.size();
  json.add_text("\"funcTable\":{");
  json.column("name", count, [&](std::size_t i) { json.add("{}", functions_[i].name); });
  json.constant("isJS", count, "false");
  json.constant("relevantForJS", count, "false");
  json.column("resource", count, [&](std::size_t i) { json.add("{}", functions_[i].library); });
  json.column("source", count,
              [&](std::size_t i) { json.add_text(number_or_null(functions_[i].file)); });
  json.constant("lineNumber", count, "null");
  json.constant("columnNumber", count, "null");
  json.constant("originalLocation", count, "null");
  json.add("\"length\":{}}},", count);
}

void StackTables::write_resources(JsonText& json) {
  const std::size_t count = libraries_.size();
  json.add_text("\"resourceTable\":{");
  json.column("lib", count, [&](std::size_t i) { json.add("{}", i); });
  json.column("name", count,
              [&](std::size_t i) { json.add("{}", strings_.intern(libraries_[i].name)); });
  json.constant("host", count, "null");
  json.constant("type", count, "1");
  json.add("\"length\":{}}},", count);
}

void StackTables::write_symbols(JsonText& json) const {
  const std::size_t count = symbols_.size();
  json.add_text("\"nativeSymbols\":{");
  json.column("libIndex", count, [&](std::size_t i) { json.add("{}", symbols_[i].library); });
  json.column("address", count, [&](std::size_t i) { json.add("{}", symbols_[i].address); });
  json.column("name", count, [&](std::size_t i) { json.add("{}", symbols_[i].name); });
  json.column("functionSize", count, [&](std::size_t i) { json.add("{}", symbols_[i].size); });
  json.add("\"length\":{}}},", count);
}

void StackTables::write_files(JsonText& json) const {
  const std::size_t count = files_.size();
  json.add_text("\"sources\":{");
  json.constant("id", count, "null");
  json.column("filename", count, [&](std::size_t i) { json.add("{}", files_[i]); });
  json.constant("startLine", count, "1");
  json.constant("startColumn", count, "1");
  json.constant("sourceMapURL", count, "null");
  json.constant("content", count, "null");
  json.add("\"length\":{}}},", count);
}

}  // namespace ringside::exporters::firefox
