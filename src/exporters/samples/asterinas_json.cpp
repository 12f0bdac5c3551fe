#include "exporters/samples/asterinas_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

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
    const bool is_next = std::find(vcpus_.begin(), vcpus_.end(), vcpu) != vcpus_.end();
    if (is_next) vcpus_.clear();
    const char* const before = is_next ? "},{" : vcpus_.empty() ? "{" : ",";
    vcpus_.push_back(vcpu);
    has_captures_ = true;
    result_ = sink_.write(fmt::format("{}\"{}\":[{}]", before, vcpu.value, names_of(sample.group)));
  }

  [[nodiscard]] Result<void> finish() {
    RINGSIDE_TRY(result_);
    return sink_.write(has_captures_ ? "}]}\n" : "]}\n");
  }

 private:
  [[nodiscard]] std::string names_of(std::uint32_t group) {
    const profile::Profile& all = profile_.profile();
    std::string names;
    for (const profile::StackEntry& entry : profile_.stack_of(group)) {
      const profile::DetailedFrame frame = profile_.frame(entry);
      for (std::size_t i = frame.functions.size(); i-- > 0;)
        names += (names.empty() ? "" : ",") + name_of(all.frames[frame.functions[i]]);
    }
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
  bool has_captures_ = false;
  std::vector<VcpuId> vcpus_;  // of the capture at hand
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
