#include "cli/profile_verb.h"

#include <map>

#include "base/file.h"
#include "base/private_file.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/record_session.h"
#include "cli/terminal.h"
#include "exporters/broken_in_words.h"
#include "exporters/cut_in_words.h"
#include "exporters/emerald.h"
#include "exporters/lost_in_words.h"
#include "exporters/text_report.h"
#include "launch/private_folder.h"
#include "views/summary.h"

namespace ringside::cli {
namespace {

constexpr double kDefaultSeconds = 5;
constexpr std::size_t kTopStacks = 10;

// One stack for each vCPU, leaf first: "  0: symbol".
Result<void> write_one_shot(const profile::Profile& profile, exporters::Sink& sink) {
  std::map<std::uint16_t, const profile::SampleGroup*> by_vcpu;
  for (const profile::SampleGroup& group : profile.samples) {
    const profile::SampleGroup*& shown = by_vcpu[group.vcpu.value];
    if (shown == nullptr || group.disposition == wire::Disposition::kSampled) shown = &group;
  }
  for (std::uint32_t n = 0; n < profile.header.vcpu_count; ++n)
    by_vcpu.try_emplace(static_cast<std::uint16_t>(n), nullptr);
  for (const auto& [vcpu, group] : by_vcpu) {
    if (group == nullptr) {
      RINGSIDE_TRY(sink.write(fmt::format("vCPU {}: no sample\n", vcpu)));
      continue;
    }
    const bool sampled = group->disposition == wire::Disposition::kSampled;
    const std::string owner = owner_name(profile, *group, views::OwnerLevel::kTid);
    RINGSIDE_TRY(sink.write(
        fmt::format("vCPU {}{}{}\n", vcpu, sampled && !owner.empty() ? ", " + owner : "",
                    sampled ? ":" : fmt::format(": {}", recording::name_of(group->disposition)))));
    const auto frames = profile.stacks.frames_of(group->stack);
    for (std::size_t i = 0; i < frames.size(); ++i)
      RINGSIDE_TRY(
          sink.write(fmt::format("  {}: {}\n", i, profile.name(frames[frames.size() - 1 - i]))));
  }
  return {};
}

// Emerald's statistics have no line for what was lost.
void say_lost_and_cut(const profile::Profile& profile, bool always) {
  const views::Summary summary = views::make_summary(profile);
  const std::string words = exporters::lost_in_words(profile);
  if (!words.empty())
    say("ringside: " + words);
  else if (always && summary.lost.value_or(0) != 0)
    say(fmt::format("ringside: {} of {} vCPU ticks were lost", *summary.lost, *summary.due));
  for (const std::string& cut : exporters::cut_in_words(profile)) say("ringside: " + cut);
}

// The picture could not be written: nothing recorded is lost.
void keep_recording(const std::string& recording) {
  constexpr const char* kKept = "ringside.data";
  const auto file = MappedFile::open(recording);
  const auto kept = create_private_file(kKept);
  if (file && kept && write_all(kept->get(), (*file)->bytes(), kKept))
    say(std::string("ringside: the recording is kept in ") + kKept);
}

}  // namespace

void ProfileVerb::add_options(App& app) {
  flags_.add_to(app);
  App& output = app.section(kOutputSection);
  output
      .add_option("-o,--output", output_,
                  "Also write this: .folded gives folded stacks, as --folded-style does; else a "
                  "flame graph")
      ->type_name("FILE");
  app.section("Samples to take")
      .add_flag("--one-shot", one_shot_, "Take one sample and print every vCPU's stack");
  app.section(kNamesSection)
      .add_flag("--show-addresses", reader_.show_addresses,
                "Show each frame's address behind its name");
  style_.add_to(output);
  reader_.add_owners_to(app);
  reader_.symbols.add_to(app);
}

Result<void> ProfileVerb::run(const std::vector<std::string>& command) {
  auto format = OutputFormat::kSvg;
  if (!output_.empty()) {
    const auto otherwise = style_.asked.empty() ? OutputFormat::kSvg : OutputFormat::kFolded;
    RINGSIDE_ASSIGN(format, format_of(output_, otherwise, style_.asked,
                                      {OutputFormat::kSvg, OutputFormat::kFolded}));
    RINGSIDE_TRY(check_output(output_));
  }
  flags_.settle(!command.empty());
  flags_.system.debuginfod = reader_.symbols.debuginfod;
  if (one_shot_) flags_.samples = 1;
  flags_.one_shot = one_shot_;
  if (!flags_.duration_s && (one_shot_ || !flags_.samples)) flags_.duration_s = kDefaultSeconds;
  RINGSIDE_ASSIGN(const auto folder, launch::PrivateFolder::create());
  reader_.input = folder.path() / "ringside.data";
  reader_.kernel = flags_.kernel;
  reader_.kernel_symbols = flags_.symbols;
  const auto on_recorded = [this, format](const RecordSummary&) -> Result<void> {
    RINGSIDE_ASSIGN(const auto profile, open_profile(reader_));
    auto printed = write_to("-", [&](exporters::Sink& sink) -> Result<void> {
      if (one_shot_) return write_one_shot(profile, sink);
      if (style_.emerald)
        return exporters::write_emerald_statistics(profile, output_.empty(), sink);
      RINGSIDE_TRY(exporters::write_top_stacks(profile, kTopStacks, sink));
      RINGSIDE_TRY(exporters::write_summary(profile, sink));
      return flags_.verbose ? exporters::write_unwinding_detail(profile, sink) : Result<void>();
    });
    say_lost_and_cut(profile, style_.emerald);
    if (!one_shot_)
      for (const std::string& words : exporters::broken_in_words(profile))
        say("ringside: " + words);
    if (output_.empty()) return printed;
    if (auto written = write_stacks(profile, output_, format, style_); !written) {
      keep_recording(reader_.input);
      return written;
    }
    say("ringside: wrote " + output_);
    return printed;
  };
  return record_guest({flags_, command, reader_.input, "profile", command_folder_}, on_recorded);
}

}  // namespace ringside::cli
