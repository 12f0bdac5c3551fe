#include "app/sample_lines.h"

#include <fmt/core.h>

#include "exporters/parts/rust_duration.h"

namespace ringside::app {

using exporters::rust_duration;

std::string SampleLines::head() const {
  std::string text;
  if (interval_ns_ != 0) text = "Interval: " + rust_duration(interval_ns_);
  if (duration_ns_)
    text += (text.empty() ? "Duration: " : "\nDuration: ") + rust_duration(*duration_ns_);
  return text;
}

std::string SampleLines::of(const session::Control::Sample& sample) {
  std::string text = fmt::format("Sample {}: {} frame{}, vCPU {}, at {:.3f}s", sample.number,
                                 sample.frames, sample.frames == 1 ? "" : "s", sample.vcpu.value,
                                 static_cast<double>(sample.time_ns) / 1e9);
  if (sample.pause_ns == 0) return text;
  text += ", took " + rust_duration(sample.pause_ns);
  if (interval_ns_ == 0 || sample.pause_ns <= interval_ns_ || warned_ns_ == sample.time_ns)
    return text;
  warned_ns_ = sample.time_ns;
  return text + fmt::format("\nWarning: Sampling took longer than interval ({} > {})",
                            rust_duration(sample.pause_ns), rust_duration(interval_ns_));
}

}  // namespace ringside::app
