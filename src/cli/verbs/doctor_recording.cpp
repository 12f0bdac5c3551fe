#include "cli/verbs/doctor_recording.h"

#include <fmt/core.h>

#include "app/open_profile.h"
#include "base/stack.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "exporters/broken_in_words.h"
#include "exporters/cut_in_words.h"
#include "views/summary.h"

namespace ringside::cli {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// The stacks of one part, and why those that are not complete end where they do.
void say_part(const std::string& what, const recording::PartStops& part) {
  const std::uint64_t all = part.total();
  if (all == 0) return;
  say_of("  " + what, fmt::format("{}, {} of them complete ({:.1f} %)", all, part.complete(),
                                  share(part.complete(), all)));
  for (std::size_t i = 0; i < part.stops.size(); ++i) {
    const auto reason = static_cast<StopReason>(i);
    if (part.stops[i] == 0 || is_complete(reason)) continue;
    say_of(std::string("    ") + name_of(reason),
           fmt::format("{} ({:.1f} %)", part.stops[i], share(part.stops[i], all)));
  }
}

}  // namespace

void say_of(const std::string& what, const std::string& is) {
  print(fmt::format("  {:<22} {}\n", printable_line(what), printable_line(is)));
}

Result<void> say_recording(const std::string& input) {
  app::ReaderSettings settings;
  settings.inputs = {input};
  settings.format = app::kRecordingFormat;
  RINGSIDE_ASSIGN(const auto profile, app::open_profile(settings));
  const views::Summary summary = views::make_summary(profile);
  print(fmt::format("\n{}\n", printable_line(input)));
  say_of("samples", profile.is_of_ticks ? fmt::format("{}, of {} vCPU ticks sampled",
                                                      summary.samples, summary.sampled)
                                        : std::to_string(summary.samples));
  say_of("stacks", fmt::format("{}, {} of them complete ({:.1f} %)", summary.unwound,
                               summary.complete, share(summary.complete, summary.unwound)));
  say_part("kernel parts", summary.kernel);
  say_part("user parts", summary.user);
  if (summary.both > 0)
    say_of("  with both parts", fmt::format("{}: user code entered the kernel", summary.both));
  if (summary.firmware > 0) say_of("  firmware", std::to_string(summary.firmware));
  if (summary.lost_stacks > 0)
    say_of("  damaged", fmt::format("{}: a block of the file is damaged", summary.lost_stacks));
  say_of(
      "unknown frames",
      fmt::format("{} of {} ({:.1f} %){}", summary.unknown_frames, summary.all_frames,
                  share(summary.unknown_frames, summary.all_frames),
                  profile.unnamed_kernel_samples == 0
                      ? ""
                      : "; report --kernel FILE or --symbols FILE may name those of the kernel"));
  for (const std::string& words : exporters::broken_in_words(profile))
    say_of("broken stacks", words);
  for (const std::string& warning : profile.warnings) say_of("warning", warning);
  for (const std::string& words : exporters::cut_in_words(profile)) say_of("warning", words);
  // Where samples are no ticks, records are due, and each may stand for several samples.
  if (!profile.is_of_ticks && summary.lost.value_or(0) != 0)
    say_of("lost samples", std::to_string(*summary.lost));
  if (profile.is_of_ticks && summary.due && summary.lost)
    say_of("lost ticks", fmt::format("{} of {} ({:.1f} %)", *summary.lost, *summary.due,
                                     share(*summary.lost, *summary.due)));
  return {};
}

}  // namespace ringside::cli
