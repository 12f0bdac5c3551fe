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

struct FlamegraphOptions {
  std::string title;     // empty: "Flame graph"
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

// One self-contained SVG: zoom, search, tooltips, and an address that keeps zoom and search; a
// static picture where scripts are off. An empty profile gives a picture that says so.
[[nodiscard]] Result<void> write_flamegraph(const profile::Profile& profile,
                                            const FlamegraphOptions& options, Sink& sink);

}  // namespace ringside::exporters
