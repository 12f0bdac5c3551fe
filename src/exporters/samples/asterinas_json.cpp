#include "exporters/samples/asterinas_json.h"

#include <fmt/format.h>

#include <vector>

#include "exporters/parts/json_text.h"
#include "exporters/parts/stack_functions.h"
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
    result_ = sink_.write(fmt::format("{}\"{}\":[{}]", before, vcpu.value, names_of(sample.group)));
  }

  [[nodiscard]] Result<void> finish() {
    RINGSIDE_TRY(result_);
    return sink_.write(capture_ != 0 ? "}]}\n" : "]}\n");
  }

 private:
  [[nodiscard]] std::string names_of(std::uint32_t group) {
    const profile::Profile& all = profile_.profile();
    std::string names;
    for_each_function(profile_, group, [&](const profile::DetailedFrame& frame, std::size_t i) {
      names += (names.empty() ? "" : ",") + name_of(all.frames[frame.functions[i]]);
    });
    return names;
  }

  // Quoted; each function's is made once.
  const std::string& name_of(const profile::Frame& frame) {
    if (frame.function >= names_.size()) names_.resize(frame.function + 1);
    std::string& name = names_[frame.function];
    if (name.empty())
      name = frame.kind == profile::Kind::kUnknown
                 ? "\"??\""
                 : json_quoted(symbols::asterinas_name(profile_.profile().name(frame)));
    return name;
  }

  DetailedProfile& profile_;
  Sink& sink_;
  Result<void> result_;
  std::uint64_t capture_ = 0;            // the one at hand; 0: there was none yet
  std::vector<std::uint64_t> captures_;  // by vCPU: the last one that has it
  std::vector<std::string> names_;
};

}  // namespace

Result<void> write_asterinas_json(DetailedProfile& profile, const ExportOptions&, Sink& sink) {
  RINGSIDE_TRY(sink.write("{\"stack_traces\":["));
  CaptureWriter writer(profile, sink);
  RINGSIDE_TRY(profile.for_each(writer));
  return writer.finish();
}

}  // namespace ringside::exporters
