#include "exporters/broken_in_words.h"

#include <algorithm>
#include <map>
#include <optional>

#include "exporters/units.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace {

using profile::BrokenEnd;
using profile::Profile;
using recording::PartStops;

constexpr std::uint64_t kMattersFrom = 5;  // percent

bool matters(std::uint64_t part, std::uint64_t all) { return part * 100 > all * kMattersFrom; }

// Causes of a broken stack; the advice depends on these alone.
enum class Cause {
  kCopy,       // the stack is longer than what was copied of it
  kRegisters,  // nothing to begin with
  kDepth,      // cut_in_words() has a sentence for these
  kRules,      // where the caller is cannot be found out
};

Cause cause_of(StopReason reason) {
  if (reason == StopReason::kTruncated) return Cause::kCopy;
  if (reason == StopReason::kNoRegisters) return Cause::kRegisters;
  return reason == StopReason::kTooDeep ? Cause::kDepth : Cause::kRules;
}

// The cause of most broken stacks of a part; absent where none is to be reported.
std::optional<Cause> main_cause(const PartStops& part) {
  std::map<Cause, std::uint64_t> causes;
  for (std::size_t i = 0; i < part.stops.size(); ++i) {
    const auto reason = static_cast<StopReason>(i);
    if (!is_complete(reason)) causes[cause_of(reason)] += part.stops[i];
  }
  const auto most =
      std::max_element(causes.begin(), causes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == causes.end() || most->first == Cause::kDepth) return std::nullopt;
  return most->first;
}

// Where most walks of a part break off, of those that break off for want of a rule.
struct Place {
  profile::FunctionId function = 0;
  bool has_tables = false;
  std::map<StopReason, std::uint64_t> reasons;
  std::uint64_t samples = 0;
};
std::optional<Place> main_place(const Profile& profile, bool is_user) {
  std::map<profile::FunctionId, Place> places;
  for (const BrokenEnd& end : profile.broken_ends) {
    if (end.is_user != is_user || !end.function || cause_of(end.reason) != Cause::kRules) continue;
    Place& place = places[*end.function];
    place.function = *end.function;
    place.has_tables |= end.has_tables;
    place.reasons[end.reason] += end.samples;
    place.samples += end.samples;
  }
  const auto most = std::max_element(
      places.begin(), places.end(),
      [](const auto& a, const auto& b) { return a.second.samples < b.second.samples; });
  return most == places.end() ? std::nullopt : std::optional(most->second);
}

std::string_view image_of(const Profile& profile, const Place& place) {
  return profile.strings[profile.functions[place.function].image];
}

std::string advice(const Profile& profile, const Place& place, bool is_user) {
  const std::string_view image = image_of(profile, place);
  if (image.empty() && is_user)
    return std::string("that code is in no program or library that was found") +
           (profile.header.guest_os == "linux"
                ? ""
                : ": name the guest's programs (--programs DIR, --user-elf FILE)");
  if (image.empty())
    return "that code is in no known image: record with the guest's own kernel (--kernel FILE)";
  if (place.has_tables)
    return fmt::format(
        "{} has unwind information, but not of that code, and no frame pointers "
        "there: build that with -fasynchronous-unwind-tables or "
        "-fno-omit-frame-pointer (assembly: with .cfi directives)",
        image);
  return fmt::format(
      "{} has neither unwind information nor frame pointers there: build it with "
      "-fno-omit-frame-pointer{}",
      image,
      is_user ? " or -fasynchronous-unwind-tables"
              : ", or record with its file with debug information (--kernel)");
}

std::string why(const Profile& profile, Cause cause, bool is_user) {
  if (cause == Cause::kCopy)
    return "most of these are longer than the copied part: record with a larger --stack-bytes";
  if (cause == Cause::kRegisters)
    return "most of these have no registers: if the stub is not QEMU's, attach otherwise (--qmp, "
           "--engine)";
  const auto place = main_place(profile, is_user);
  if (!place) return "most of these have no frame";
  const auto reason =
      std::max_element(place->reasons.begin(), place->reasons.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string_view image = image_of(profile, *place);
  const std::string_view name = profile.strings[profile.functions[place->function].name];
  // A function without a symbol is called after its image.
  const bool shows_image = !image.empty() && !name.starts_with(image);
  return fmt::format("{} of these end in {}{} ({}): {}", format_count(place->samples), name,
                     shows_image ? fmt::format(" [{}]", image) : "", name_of(reason->first),
                     advice(profile, *place, is_user));
}

std::string sentence(const Profile& profile, const PartStops& part, bool is_user) {
  const std::uint64_t all = part.total();
  const std::uint64_t broken = all - part.complete();
  const auto cause = main_cause(part);
  if (!cause || !matters(broken, all)) return {};
  return fmt::format("{} of {} {} stacks ({}%) are not complete; {}", format_count(broken),
                     format_count(all), is_user ? "user" : "kernel", format_percent(broken, all),
                     why(profile, *cause, is_user));
}

// User code of no known process is one frame, which is complete as far as that goes.
std::string nameless(const Profile& profile, const views::Summary& summary) {
  const std::uint64_t single = summary.user.stops[static_cast<std::size_t>(StopReason::kUser)];
  if (!matters(single, summary.unwound)) return {};
  return fmt::format(
      "{} of {} samples ({}%) are user code of no known process, of which only one frame is known: "
      "{}",
      format_count(single), format_count(summary.unwound), format_percent(single, summary.unwound),
      profile.header.guest_os == "linux"
          ? "the kernel's debug symbols (--kernel vmlinux) say where it keeps its processes"
          : "name the guest's programs (--programs DIR, --user-elf FILE)");
}

}  // namespace

std::vector<std::string> broken_in_words(const Profile& profile) {
  if (profile.filtered_samples != 0) return {};
  const views::Summary summary = views::make_summary(profile);
  std::vector<std::string> words = {sentence(profile, summary.kernel, false),
                                    sentence(profile, summary.user, true),
                                    nameless(profile, summary)};
  std::erase_if(words, [](const std::string& text) { return text.empty(); });
  return words;
}

}  // namespace ringside::exporters
