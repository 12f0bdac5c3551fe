#include "app/allocations.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "app/messages.h"
#include "app/outputs.h"
#include "app/settings/time_span.h"
#include "exporters/allocations/allocation_units.h"
#include "exporters/units.h"

namespace ringside::app {
namespace {

using views::BlockValue;

std::string words_for(BlockValue value, const AllocationRequest& request) {
  switch (value) {
    case BlockValue::kLive:
      return "live at the end";
    case BlockValue::kPeak:
      return "live at the peak";
    case BlockValue::kAllocated:
      return "allocated in all";
    case BlockValue::kFreed:
      return "freed";
    case BlockValue::kOlder:
      return "live for longer than " + request.older_than;
    case BlockValue::kGrowth:
      return "growth since " + request.since;
  }
  return {};
}

// "vmlinux · x86_64 · 1,234 pages".
std::string subtitle_of(const profile::Profile& profile, const std::string& unit) {
  exporters::Subtitle subtitle(profile.header);
  subtitle.add(fmt::format(
      "{} {}", exporters::format_weight(profile.weight_of(wire::Disposition::kSampled)), unit));
  return subtitle.text();
}

Result<void> draw(OpenAllocations& opened, const views::Allocator& allocator,
                  const AllocationRequest& request, const AllocationPictures& pictures,
                  const std::string& path) {
  const profile::Profile profile =
      make_allocation_profile(*opened.details->profile, allocator, pictures.profile);
  exporters::FlamegraphOptions options = pictures.picture;
  options.unit = pictures.profile.measure == views::BlockMeasure::kCount
                     ? "blocks"
                     : std::string(exporters::size_unit(allocator.unit));
  if (options.title.empty())
    options.title = exporters::title_of(
        allocator.name + ": " + words_for(pictures.profile.value, request), profile.header);
  if (options.subtitle.empty()) options.subtitle = subtitle_of(profile, options.unit);
  return write_to(path, [&](exporters::Sink& sink) {
    return exporters::write_flamegraph(profile, options, sink);
  });
}

// Characters that are separators, wildcards or quotes somewhere become "_".
std::string file_word(const std::string& name) {
  constexpr std::size_t kMostBytes = 200;
  std::size_t end = std::min(name.size(), kMostBytes);
  while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  std::string word;
  for (const char c : name.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte > ' ' && byte != 0x7f &&
                          std::string_view("/\\:*?\"<>|").find(c) == std::string_view::npos;
    word += is_plain ? c : '_';
  }
  return word;
}

Result<void> make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error && !std::filesystem::is_directory(folder))
    return fail(ErrorCode::kIo, "cannot make the folder {}: {}", folder, error.message());
  return {};
}

}  // namespace

Result<OpenAllocations> open_allocations(const AllocationRequest& request) {
  views::AllocationOptions options;
  options.allocators = request.allocators;
  options.in_events = request.in_events;
  if (!request.older_than.empty()) {
    RINGSIDE_ASSIGN(options.older_than, parse_time_span("--older-than", request.older_than));
  }
  if (!request.since.empty()) {
    RINGSIDE_ASSIGN(options.since, parse_time_span("--since", request.since));
  }
  OpenAllocations opened;
  RINGSIDE_ASSIGN(opened.details, open_details(request.settings));
  auto allocators = follow_allocations(*opened.details->profile, options);
  if (!allocators)
    return fail(allocators.error().code, "{}: {}", request.settings.input(),
                allocators.error().message);
  opened.allocators = std::move(*allocators);
  return opened;
}

void say_warnings(const OpenAllocations& opened) {
  const auto say_all = [](const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) say("ringside: " + warning);
  };
  const profile::Profile& profile = opened.details->profile->profile();
  if (!opened.details->recording.was_imported) say_all(profile.warnings);
  say_all(profile.left_out);
  say_all(opened.details->recording.symbols.warnings(!profile.is_whole()));
}

Result<BlockValue> chosen_value(const std::string& name, const AllocationRequest& request) {
  if (name.empty())
    return !request.older_than.empty() ? BlockValue::kOlder
           : !request.since.empty()    ? BlockValue::kGrowth
                                       : BlockValue::kLive;
  const BlockValue value = *views::block_value_named(name);
  if (value == BlockValue::kOlder && request.older_than.empty())
    return fail(ErrorCode::kUsage, "older is what is live for longer than --older-than: give it");
  if (value == BlockValue::kGrowth && request.since.empty())
    return fail(ErrorCode::kUsage, "growth is what came since --since: give it");
  return value;
}

std::vector<std::string> picture_names(const std::vector<std::string>& allocators) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const std::string& allocator : allocators) {
    const std::string word = file_word(allocator);
    std::string name = fmt::format("mem-{}.svg", word);
    for (unsigned n = 2; !taken.insert(name).second; ++n)
      name = fmt::format("mem-{}-{}.svg", word, n);
    names.push_back(std::move(name));
  }
  return names;
}

Result<void> draw_allocations(const AllocationRequest& request,
                              const AllocationPictures& pictures) {
  RINGSIDE_ASSIGN(auto opened, open_allocations(request));
  RINGSIDE_TRY(make_folder(pictures.folder));
  std::vector<std::string> allocators;
  for (const views::Allocator& allocator : opened.allocators) allocators.push_back(allocator.name);
  const std::vector<std::string> names = picture_names(allocators);
  for (std::size_t n = 0; n < names.size(); ++n) {
    const std::string path = std::filesystem::path(pictures.folder) / names[n];
    RINGSIDE_TRY(check_no_input(path, request.settings.inputs));
    RINGSIDE_TRY(draw(opened, opened.allocators[n], request, pictures, path));
    say(fmt::format("ringside: wrote {}; open it in a browser", path));
  }
  say_warnings(opened);
  return {};
}

}  // namespace ringside::app
