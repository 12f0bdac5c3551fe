#include "cli/verbs/profile_verb.h"

#include <ctime>
#include <filesystem>
#include <map>
#include <variant>

#include "app/default_socket.h"
#include "app/messages.h"
#include "app/outputs.h"
#include "app/record_session.h"
#include "base/file.h"
#include "base/private_file.h"
#include "cli/options.h"
#include "cli/output_flags.h"
#include "cli/reader_flags.h"
#include "cli/sampling_flags.h"
#include "cli/symbol_flags.h"
#include "exporters/broken_in_words.h"
#include "exporters/cut_in_words.h"
#include "exporters/emerald.h"
#include "exporters/empty_in_words.h"
#include "exporters/lost_in_words.h"
#include "exporters/report/text_report.h"
#include "launch/private_folder.h"
#include "session/one_shot.h"
#include "views/summary.h"

namespace ringside::cli {
namespace {

constexpr double kDefaultSeconds = 5;
constexpr std::size_t kTopStacks = 10;

// One stack for each vCPU, leaf first: "  0: symbol".
Result<void> write_one_shot(const profile::Profile& profile, exporters::Sink& sink) {
  std::map<std::uint16_t, const profile::SampleGroup*> by_vcpu;
  for (const profile::SampleGroup& group : profile.samples) {
    const profile::SampleGroup*& shown = by_vcpu[profile.owner_of(group).vcpu.value];
    if (shown == nullptr || profile.is_sampled(group)) shown = &group;
  }
  for (std::uint32_t n = 0; n < profile.header.vcpu_count; ++n)
    by_vcpu.try_emplace(static_cast<std::uint16_t>(n), nullptr);
  for (const auto& [vcpu, group] : by_vcpu) {
    if (group == nullptr) {
      RINGSIDE_TRY(sink.write(fmt::format("vCPU {}: no sample\n", vcpu)));
      continue;
    }
    const profile::Owner& of = profile.owner_of(*group);
    const bool sampled = of.disposition == wire::Disposition::kSampled;
    const std::string owner = owner_name(profile, of, views::RootFrame::kTid);
    RINGSIDE_TRY(sink.write(
        fmt::format("vCPU {}{}{}\n", vcpu, sampled && !owner.empty() ? ", " + owner : "",
                    sampled ? ":" : fmt::format(": {}", recording::name_of(of.disposition)))));
    const auto frames = profile.stacks.frames_of(group->stack);
    for (std::size_t i = 0; i < frames.size(); ++i)
      RINGSIDE_TRY(
          sink.write(fmt::format("  {}: {}\n", i, profile.name(frames[frames.size() - 1 - i]))));
  }
  return {};
}

// How many rounds one shot took, and what is missing all the same. Error kTimeout: a vCPU gave no
// state at all.
Result<void> say_gaps(const app::RecordSummary& summary) {
  app::say(summary.rounds == 1 ? "ringside: one round of samples was taken"
                               : fmt::format("ringside: {} rounds of samples were taken, of which "
                                             "each stack is the most complete",
                                             summary.rounds));
  std::string missing;
  for (const session::OneShot::Gap& gap : summary.gaps) {
    if (gap.is_missing) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", gap.vcpu.value);
    if (gap.cut)
      app::say(fmt::format("ringside: vCPU {}: the stack is cut: {}", gap.vcpu.value,
                           name_of(*gap.cut)));
    if (gap.has_no_process)
      app::say(fmt::format("ringside: vCPU {}: its process is not known", gap.vcpu.value));
  }
  if (missing.empty()) return {};
  return fail(ErrorCode::kTimeout, "no state was had of vCPU {}{}{}", missing,
              summary.silence.empty() ? "" : ": ", summary.silence);
}

// Emerald's statistics have no line for what was lost. States are no shares, and one shot loses
// nothing.
void say_lost_and_cut(const profile::Profile& profile, bool always, bool one_shot, bool states) {
  const views::Summary summary = views::make_summary(profile);
  const std::string words = one_shot ? std::string() : exporters::lost_in_words(profile);
  if (!words.empty())
    app::say("ringside: " + words);
  else if (always && summary.lost.value_or(0) != 0)
    app::say(fmt::format("ringside: {} of {} vCPU ticks were lost", *summary.lost, *summary.due));
  if (const std::string waits = exporters::waits_in_words(profile); !waits.empty())
    app::say("ringside: " + waits);
  if (const std::string bent = exporters::bent_in_words(profile); !bent.empty() && !states)
    app::say("ringside: " + bent);
  for (const std::string& cut : exporters::cut_in_words(profile)) app::say("ringside: " + cut);
}

// Where all ticks are idle, that is a result.
Result<void> check_samples(const profile::Profile& profile, const app::RecordSummary& recorded) {
  const std::string why = exporters::empty_in_words(profile);
  if (why.empty() || exporters::is_all_idle(profile)) return {};
  return tl::unexpected<Error>(app::without_samples(recorded, why));
}

// The picture could not be written: nothing recorded is lost.
void keep_recording(const std::string& recording) {
  constexpr const char* kKept = "ringside.data";
  const auto file = MappedFile::open(recording);
  const auto kept = create_private_file(kKept);
  if (file && kept && write_all(kept->get(), (*file)->bytes(), kKept))
    app::say(std::string("ringside: the recording is kept in ") + kKept);
}

}  // namespace

void ProfileVerb::add_options(App& app) {
  add_sampling_flags(app, settings_, Counted::kRounds);
  App& output = app.section(kOutputSection);
  output
      .add_option("-o,--output", output_,
                  "Also write this: .folded gives folded stacks, as --folded-style does; .json the "
                  "captures of Asterinas' profiler; else a flame graph. Its name is made of the "
                  "kernel's and the time where only --format is given")
      ->type_name("FILE");
  output
      .add_option("--format", format_,
                  "The output's kind, whatever its name: json, folded or flame-graph")
      ->type_name("NAME")
      ->one_of({"json", "folded", "flame-graph"});
  output
      .add_option("--cpu-mask", reader_.cpu_mask,
                  "Only these vCPUs in the output: 5 or 0x5 is of the vCPUs 0 and 2")
      ->type_name("MASK");
  output
      .add_option("--parse", parse_,
                  "Write what was profiled before, from this file, and sample no guest")
      ->type_name("FILE")
      ->excludes(app.find_option("--samples"))
      ->excludes(app.find_option("--interval"));
  App& samples = app.section("Samples to take");
  samples.add_flag("--one-shot", one_shot_,
                   "Print every vCPU's stack, of up to three rounds of samples, and end; "
                   "--duration 0 is the same");
  samples.add_flag("--halted", settings_.halted,
                   "Sample halted vCPUs, too, where ringside stops the guest: they have stacks "
                   "and are not idle; JSON has them always");
  app.section(kNamesSection)
      .add_flag("--show-addresses", reader_.show_addresses,
                "Show each frame's address behind its name");
  add_stack_style_flags(output, style_);
  output_section_ = &output;
  add_owner_flags(app, reader_);
  add_symbol_flags(app, reader_.symbols);
}

Result<const exporters::Format*> ProfileVerb::choose_format() const {
  // By the words of --format.
  static const std::map<std::string, std::string> kNames = {
      {"", "svg"}, {"json", "asterinas-json"}, {"folded", "folded"}, {"flame-graph", "svg"}};
  std::string name = kNames.at(format_);
  std::string asked = format_.empty() ? "" : "--format " + format_;
  if (format_.empty() && output_.ends_with(".json")) {
    name = "asterinas-json";
    asked = "-o " + output_;
  }
  if (!style_.folded_style.empty()) {
    if (!asked.empty() && name != "folded")
      return fail(ErrorCode::kUsage, "{} does not go with --folded-style {}", asked,
                  style_.folded_style);
    asked = "--folded-style " + style_.folded_style;
    name = "folded";
  }
  return app::format_of(output_, name, asked, {"svg", "folded", "asterinas-json"});
}

namespace {

bool is_json(const exporters::Format& format) {
  return std::string_view(format.name) == "asterinas-json";
}

std::string file_name(const std::string& stem, const exporters::Format& format) {
  return stem + (is_json(format) ? ".json" : format.extensions.front());
}

// "KERNEL-profile-142312", as Asterinas' profiler has it.
std::string stem_with_time(const std::string& kernel) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  const std::string name = std::filesystem::path(kernel).filename();
  return fmt::format("{}-profile-{:02}{:02}{:02}", name.empty() ? "kernel" : name, local.tm_hour,
                     local.tm_min, local.tm_sec);
}

}  // namespace

Result<void> ProfileVerb::write(const profile::Profile& profile,
                                const exporters::Format& format) const {
  if (std::holds_alternative<exporters::Format::FromProfile>(format.write))
    return app::write_profile(profile, output_, format, style_);
  return app::write_export(reader_, output_, format, style_);
}

Result<void> ProfileVerb::render(const std::vector<std::string>& command) {
  if (!command.empty() || settings_.attaches() || one_shot_)
    return fail(ErrorCode::kUsage,
                "--parse reads a file and samples no guest: leave out --gdb, "
                "--qmp, --ring, --one-shot and QEMU's command line");
  RINGSIDE_ASSIGN(const exporters::Format* const format, choose_format());
  if (output_.empty())
    output_ = file_name(std::filesystem::path(parse_).replace_extension().string(), *format);
  reader_.inputs = {parse_};
  reader_.kernel = settings_.kernel;
  reader_.kernel_symbols = settings_.symbols;
  RINGSIDE_TRY(app::write_export(reader_, output_, *format, style_));
  app::say("ringside: wrote " + output_);
  return {};
}

Result<void> ProfileVerb::run(const std::vector<std::string>& command) {
  launches_ = !command.empty();
  const bool is_emerald = style_.folded_style == "emerald";
  RINGSIDE_TRY(check_stack_style(*output_section_, style_));
  if (!parse_.empty()) return render(command);
  RINGSIDE_ASSIGN(const exporters::Format* const format, choose_format());
  RINGSIDE_TRY(app::chosen_vcpus(reader_));
  const bool writes = !output_.empty() || !format_.empty();
  if (!output_.empty()) RINGSIDE_TRY(app::check_output(output_));
  if (command.empty() && !settings_.attaches() && settings_.engine != launch::EngineKind::kQmp)
    RINGSIDE_TRY(app::take_default_socket(settings_));
  settings_.settle(!command.empty());
  if (settings_.duration_s == 0.0) {  // as Emerald's profiler has it
    one_shot_ = true;
    settings_.duration_s.reset();
  }
  settings_.system.debuginfod = reader_.symbols.debuginfod;
  settings_.one_shot = one_shot_;
  settings_.each_sample = settings_.verbose;
  settings_.states = one_shot_ || is_json(*format);
  // As the backtraces of Asterinas' profiler are.
  settings_.halted |= one_shot_ || is_json(*format);
  if (!settings_.duration_s && (one_shot_ || !settings_.rounds))
    settings_.duration_s = kDefaultSeconds;
  RINGSIDE_ASSIGN(const auto folder, launch::PrivateFolder::create());
  reader_.inputs = {folder.path() / "ringside.data"};
  reader_.format = app::kRecordingFormat;
  reader_.kernel = settings_.kernel;
  reader_.kernel_symbols = settings_.symbols;
  reader_.may_be_empty = true;
  const auto on_recorded = [this, format, writes,
                            is_emerald](const app::RecordSummary& recorded) -> Result<void> {
    RINGSIDE_ASSIGN(const auto profile, app::open_profile(reader_));
    auto printed = app::write_to("-", [&](exporters::Sink& sink) -> Result<void> {
      if (one_shot_)
        return is_emerald ? exporters::write_emerald_stacks(profile, sink)
                          : write_one_shot(profile, sink);
      if (is_emerald) return exporters::write_emerald_statistics(profile, !writes, sink);
      RINGSIDE_TRY(exporters::write_top_stacks(profile, kTopStacks, sink));
      RINGSIDE_TRY(exporters::write_summary(profile, sink));
      return settings_.verbose ? exporters::write_unwinding_detail(profile, sink) : Result<void>();
    });
    say_lost_and_cut(profile, is_emerald, one_shot_, settings_.states);
    if (!one_shot_)
      for (const std::string& words : exporters::broken_in_words(profile))
        app::say("ringside: " + words);
    if (one_shot_ && printed) printed = say_gaps(recorded);
    if (printed && !one_shot_) printed = check_samples(profile, recorded);
    if (!writes) return printed;
    if (output_.empty()) output_ = file_name(stem_with_time(profile.header.kernel), *format);
    if (auto written = write(profile, *format); !written) {
      keep_recording(reader_.input());
      return written;
    }
    if (is_emerald && output_ != "-")
      RINGSIDE_TRY(app::write_to("-", [&](exporters::Sink& sink) {
        return exporters::write_emerald_outcome(profile, output_, sink);
      }));
    app::say("ringside: wrote " + output_);
    return printed;
  };
  return app::record_guest({settings_, command, reader_.input(), "profile", command_folder_},
                           on_recorded, end_);
}

}  // namespace ringside::cli
