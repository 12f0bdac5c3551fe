#include "exporters/samples/asterinas_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "exporters/parts/frame_texts.h"
#include "exporters/parts/json_text.h"
#include "symbols/asterinas_name.h"

namespace ringside::exporters {
namespace {

using profile::DetailedProfile;

class CaptureWriter final : public profile::SampleReceiver {
 public:
  // `vcpus`: those to write; empty: all.
  CaptureWriter(DetailedProfile& profile, const std::vector<VcpuId>& vcpus, Sink& sink)
      : profile_(profile), vcpus_(vcpus), sink_(sink), round_ns_(round_ns(profile)) {}

  void sample(const profile::TimedSample& sample) override {
    const profile::Owner& owner = profile_.owner_of(sample.group);
    if (!result_ || sample.source != 0) return;
    const bool has_stack =
        owner.disposition == wire::Disposition::kSampled && owner.vcpu != recording::kNoVcpu;
    const bool is_numbered = !profile_.profile().has_times;
    if (!has_stack && !is_numbered) return;
    text_.clear();
    if (is_numbered ? is_later(sample.time) : is_of_next(owner.vcpu, sample.time)) begin_capture();
    if (has_stack && is_chosen(owner.vcpu)) append_stack(owner.vcpu, sample.group);
    result_ = sink_.write(text_);
  }

  [[nodiscard]] Result<void> finish() {
    RINGSIDE_TRY(result_);
    return sink_.write(capture_ != 0 ? "}]}\n" : "]}\n");
  }

 private:
  // Captures have numbers instead of times.
  [[nodiscard]] bool is_later(std::uint64_t number) {
    const bool is_later = capture_ == 0 || number != number_;
    number_ = number;
    return is_later;
  }

  // How long a round takes. All samples of a stop have its time; vCPUs that sample themselves do so
  // once in an interval. Where the interval is not known, a round has no end of its own.
  [[nodiscard]] static std::uint64_t round_ns(const DetailedProfile& profile) {
    const std::string& engine = profile.profile().header.engine;
    if (engine == "gdb" || engine == "qmp") return 1;
    const std::uint64_t interval_ns = profile.profile().header.interval_ns;
    return interval_ns != 0 ? interval_ns : ~std::uint64_t{0};
  }

  // A vCPU that the capture at hand has begins the next one, and so does the end of the round.
  [[nodiscard]] bool is_of_next(VcpuId vcpu, std::uint64_t time) {
    if (vcpu.value >= captures_.size()) captures_.resize(std::size_t{vcpu.value} + 1);
    const bool is_over = time > began_ && time - began_ >= round_ns_;
    const bool is_next = capture_ == 0 || captures_[vcpu.value] == capture_ || is_over;
    if (is_next) began_ = time;
    captures_[vcpu.value] = is_next ? capture_ + 1 : capture_;
    return is_next;
  }

  [[nodiscard]] bool is_chosen(VcpuId vcpu) const {
    return vcpus_.empty() || std::find(vcpus_.begin(), vcpus_.end(), vcpu) != vcpus_.end();
  }

  void begin_capture() {
    text_ += capture_++ == 0 ? "{" : "},{";
    is_empty_ = true;
  }

  void append_stack(VcpuId vcpu, std::uint32_t group) {
    text_ += fmt::format("{}\"{}\":[", is_empty_ ? "" : ",", vcpu.value);
    is_empty_ = false;
    const std::size_t start = text_.size();
    for (const profile::StackEntry& entry : profile_.stack_of(group))
      text_ += names_.of(entry, [&] { return names_of(profile_.frame(entry)); });
    text_.erase(start, 1);  // the first comma
    text_ += ']';
  }

  // `,"name"` for each of a frame's functions, innermost first.
  [[nodiscard]] std::string names_of(const profile::DetailedFrame& frame) const {
    const profile::Profile& all = profile_.profile();
    std::string names;
    for (std::size_t i = frame.functions.size(); i-- > 0;) {
      const profile::Frame& function = all.frames[frame.functions[i]];
      names += function.kind == profile::Kind::kUnknown
                   ? ",\"??\""
                   : "," + json_quoted(clean_name(std::string(all.name(function))));
    }
    return names;
  }

  // Names that come from such JSON are cleaned up already. Blanks in them are theirs.
  [[nodiscard]] std::string clean_name(std::string name) const {
    constexpr std::string_view kOwn = "asterinas-json";
    const bool is_clean = profile_.profile().header.engine == kOwn;
    return is_clean ? std::move(name) : symbols::asterinas_name(name);
  }

  DetailedProfile& profile_;
  const std::vector<VcpuId>& vcpus_;
  Sink& sink_;
  Result<void> result_;
  std::uint64_t capture_ = 0;  // the one at hand; 0: there was none yet
  std::uint64_t round_ns_;
  std::uint64_t began_ = 0;              // the one at hand
  bool is_empty_ = true;                 // it has no stack yet
  std::uint64_t number_ = 0;             // of the one at hand, where captures have numbers
  std::vector<std::uint64_t> captures_;  // by vCPU: the last one that has it
  FrameTexts names_;
  std::string text_;  // reused
};

}  // namespace

Result<void> write_asterinas_json(DetailedProfile& profile, const ExportOptions& options,
                                  Sink& sink) {
  RINGSIDE_TRY(sink.write("{\"stack_traces\":["));
  CaptureWriter writer(profile, options.vcpus, sink);
  RINGSIDE_TRY(profile.for_each(writer));
  return writer.finish();
}

}  // namespace ringside::exporters
