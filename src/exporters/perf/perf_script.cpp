#include "exporters/perf/perf_script.h"

#include <fmt/core.h>

#include <vector>

#include "elf/image_map.h"
#include "exporters/parts/frame_texts.h"
#include "profile/sanitize.h"
#include "views/owner.h"

namespace ringside::exporters {
namespace {

using profile::DetailedFrame;
using profile::DetailedProfile;

constexpr std::string_view kRedoxKernel = "kernel";  // the root frame of Redox' pictures

// The file of a frame's code, as perf has it.
std::string dso_of(const DetailedFrame& frame) {
  if (frame.image == nullptr) return "[unknown]";
  if (frame.image->name == elf::kKernelImage) return "[kernel.kallsyms]";
  if (is_kernel(frame.kind)) return fmt::format("[{}]", profile::sanitize(frame.image->name));
  return profile::sanitize(frame.image->path.empty() ? frame.image->name : frame.image->path);
}

class ScriptWriter final : public profile::SampleReceiver {
 public:
  ScriptWriter(DetailedProfile& profile, const ExportOptions& options, Sink& sink)
      : profile_(profile), options_(options), sink_(sink) {}

  void sample(const profile::TimedSample& sample) override {
    if (!result_) return;
    const profile::Owner& owner = profile_.owner_of(sample.group);
    const bool is_idle = owner.disposition == wire::Disposition::kIdle;
    if (!views::is_shown(owner, options_.show_idle)) return;
    text_.clear();
    append_head(sample, owner);
    if (is_idle) text_ += fmt::format("\t{:16x} {} ([unknown])\n", 0, profile::kIdleName);
    for (const profile::StackEntry& entry : profile_.stack_of(sample.group))
      text_ += lines_.of(entry, [&] { return make_lines(profile_.frame(entry)); });
    text_ += '\n';
    result_ = sink_.write(text_);
  }

  [[nodiscard]] const Result<void>& result() const { return result_; }

 private:
  // perf pads no command where call chains follow: readers take a blank for a frame's line.
  void append_head(const profile::TimedSample& sample, const profile::Owner& owner) {
    const std::string_view comm =
        options_.redox_style.empty() ? profile_.profile().strings[owner.comm] : kRedoxKernel;
    const auto out = std::back_inserter(text_);
    const std::uint32_t pid = owner.pid.value_or(0);  // readers take no other number for "none"
    fmt::format_to(out, "{} {:>5}/{:<5}", comm.empty() ? profile::kNobodyName : comm, pid,
                   owner.tid.value_or(pid));
    if (owner.vcpu != recording::kNoVcpu) fmt::format_to(out, " [{:03}]", owner.vcpu.value);
    constexpr std::uint64_t kSecond = 1'000'000'000;
    fmt::format_to(out, " {}.{:09}: {:>10} {}: \n", sample.time / kSecond, sample.time % kSecond,
                   sample.values.empty() ? 0 : sample.values.front(), event_of(sample.source));
  }

  const std::string& event_of(std::uint32_t source) {
    if (events_.empty())
      for (const profile::ChosenSource& chosen : profile_.sources())
        events_.push_back(profile::sanitize(chosen.source.name));
    return events_[source];
  }

  [[nodiscard]] std::string make_lines(const DetailedFrame& frame) const {
    return options_.redox_style.empty() ? perf_lines(frame) : redox_lines(frame);
  }

  // "[name+12b] (kernel)"; with x its function stands below it as the caller. Readers split a line
  // at its last blank, and a name may have blanks, so the parentheses have none.
  [[nodiscard]] std::string redox_lines(const DetailedFrame& frame) const {
    const auto has = [this](char letter) {
      return options_.redox_style.find(letter) != std::string::npos;
    };
    const auto line = [&frame](std::string_view name, std::string_view image) {
      return fmt::format("\t{:16x} [{}] ({})\n", frame.address.value, name, image);
    };
    const profile::Profile& all = profile_.profile();
    const profile::Frame& function = all.frames[frame.functions.front()];
    const std::string_view image = function.kind == profile::Kind::kUser ? "user" : kRedoxKernel;
    const std::string_view name = all.name(function);
    if (function.kind == profile::Kind::kUnknown || name == profile::kUserName)
      return line("unknown", fmt::format("[{}]", image));
    if (frame.symbol.size == 0 || !(has('o') || has('x'))) return line(name, image);
    const std::uint64_t offset = frame.address - frame.symbol.start;
    return line(fmt::format("{}+{:x}", name, offset), image) + (has('x') ? line(name, image) : "");
  }

  [[nodiscard]] std::string perf_lines(const DetailedFrame& frame) const {
    const profile::Profile& all = profile_.profile();
    std::string text;
    // An importer may have recorded an inlined function as a frame of its own.
    const bool is_inlined = all.frames[frame.functions.front()].inlined;
    for (std::size_t i = frame.functions.size(); i-- > (is_inlined ? 0 : 1);)
      text +=
          fmt::format("\t{:16x} {} (inlined)\n", frame.address.value, all.name(frame.functions[i]));
    if (is_inlined) return text;
    const bool is_unknown =
        frame.id != 0 && all.frames[frame.functions.front()].kind == profile::Kind::kUnknown;
    text += fmt::format("\t{:16x} {}", frame.address.value,
                        is_unknown ? "[unknown]" : all.name(frame.functions.front()));
    if (frame.symbol.size != 0) text += fmt::format("+{:#x}", frame.address - frame.symbol.start);
    return text + fmt::format(" ({})\n", dso_of(frame));
  }

  DetailedProfile& profile_;
  const ExportOptions& options_;
  Sink& sink_;
  Result<void> result_;
  std::string text_;                 // reused
  std::vector<std::string> events_;  // by source
  FrameTexts lines_;
};

}  // namespace

Result<void> write_perf_script(DetailedProfile& profile, const ExportOptions& options, Sink& sink) {
  ScriptWriter writer(profile, options, sink);
  RINGSIDE_TRY(profile.for_each(writer));
  return writer.result();
}

}  // namespace ringside::exporters
