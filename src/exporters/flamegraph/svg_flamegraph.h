#pragma once

#include <string>
#include <string_view>

#include "exporters/flamegraph/flamegraph_layout.h"
#include "exporters/flamegraph/flamegraph_theme.h"
#include "exporters/flamegraph/frame_colors.h"
#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/owner.h"

namespace ringside::exporters {

// A line of parts, "vmlinux · x86_64 · 2 vCPUs", of which the first are the kernel and its machine.
class Subtitle {
 public:
  explicit Subtitle(const recording::Header& header);
  void add(std::string_view part);  // unless it is empty
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// "Flame graph · 6.1.0-9-amd64 · 2023-11-14": behind `what` the kernel's release, or its file's
// name, and the day of the recording in UTC, as far as they are recorded.
[[nodiscard]] std::string title_of(std::string_view what, const recording::Header& header);

struct FlamegraphOptions {
  std::string title;     // empty: "Flame graph" by title_of()
  std::string subtitle;  // empty: kernel, vCPUs, samples, interval
  std::string unit;      // of weights; empty: that of the profile
  // Pixels of the picture without JavaScript; in a browser it fills the window.
  unsigned width = 1200;
  // Pixels at that width; narrower frames are left out.
  double minimum_width = FlamegraphLayout::kNarrowestFrame;
  bool icicle = false;                            // roots at the top
  bool reverse = false;                           // leaf first: who calls what is hot
  bool per_vcpu = false;                          // a first level with one frame per vCPU
  views::RootFrame by = views::RootFrame::kComm;  // below that one frame per root
  bool show_idle = false;                         // idle ticks as one frame "[idle]"
  FrameColoring colors = FrameColoring::kAuto;
  Theme theme = Theme::kAuto;
};

// One self-contained SVG, as write_picture() has it.
[[nodiscard]] Result<void> write_flamegraph(const profile::Profile& profile,
                                            const FlamegraphOptions& options, Sink& sink);

}  // namespace ringside::exporters
