#include "exporters/samples/asterinas_json.h"

#include <fmt/format.h>

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
  CaptureWriter(DetailedProfile& profile, Sink& sink) : profile_(profile), sink_(sink) {}

  void sample(const profile::TimedSample& sample) override {
    const profile::Owner& owner = profile_.owner_of(sample.group);
    if (!result_ || sample.source != 0 || owner.disposition != wire::Disposition::kSampled) return;
    const VcpuId vcpu = owner.vcpu;
    if (vcpu == recording::kNoVcpu) return;
    if (vcpu.value >= captures_.size()) captures_.resize(std::size_t{vcpu.value} + 1);
    const bool is_first = capture_ == 0;
    const bool is_next = is_first || captures_[vcpu.value] == capture_;
    if (is_next) ++capture_;
    captures_[vcpu.value] = capture_;
    const char* const before = is_first ? "{" : is_next ? "},{" : ",";
    text_ = fmt::format("{}\"{}\":[", before, vcpu.value);
    const std::size_t start = text_.size();
    for (const profile::StackEntry& entry : profile_.stack_of(sample.group))
      text_ += names_.of(entry, [&] { return names_of(profile_.frame(entry)); });
    text_.erase(start, 1);  // the first comma
    text_ += ']';
    result_ = sink_.write(text_);
  }

  [[nodiscard]] Result<void> finish() {
    RINGSIDE_TRY(result_);
    return sink_.write(capture_ != 0 ? "}]}\n" : "]}\n");
  }

 private:
  // `,"name"` for each of a frame's functions, innermost first.
  [[nodiscard]] std::string names_of(const profile::DetailedFrame& frame) const {
    const profile::Profile& all = profile_.profile();
    std::string names;
    for (std::size_t i = frame.functions.size(); i-- > 0;) {
      const profile::Frame& function = all.frames[frame.functions[i]];
      names += function.kind == profile::Kind::kUnknown
                   ? ",\"??\""
                   : "," + json_quoted(symbols::asterinas_name(all.name(function)));
    }
    return names;
  }

  DetailedProfile& profile_;
  Sink& sink_;
  Result<void> result_;
  std::uint64_t capture_ = 0;            // the one at hand; 0: there was none yet
  std::vector<std::uint64_t> captures_;  // by vCPU: the last one that has it
  FrameTexts names_;
  std::string text_;  // reused
};

}  // namespace

Result<void> write_asterinas_json(DetailedProfile& profile, const ExportOptions&, Sink& sink) {
  RINGSIDE_TRY(sink.write("{\"stack_traces\":["));
  CaptureWriter writer(profile, sink);
  RINGSIDE_TRY(profile.for_each(writer));
  return writer.finish();
}

}  // namespace ringside::exporters
