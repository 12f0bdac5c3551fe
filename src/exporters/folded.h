#pragma once

#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/owner.h"

namespace ringside::exporters {

struct FoldedOptions {
  bool per_vcpu = false;                          // a first frame "vcpu 0", "vcpu 1", …
  bool show_idle = false;                         // idle ticks as "[idle] COUNT"
  views::RootFrame by = views::RootFrame::kComm;  // the frame at the root
  bool annotate_kernel =
      false;  // "_[k]" behind the kernel's frames, as stackcollapse-perf --kernel
};

// "outermost;…;leaf WEIGHT" a line, sorted by the bytes of the stack (without its marks), for
// flamegraph.pl, speedscope and all that read their format. An empty profile gives no line.
[[nodiscard]] Result<void> write_folded(const profile::Profile& profile,
                                        const FoldedOptions& options, Sink& sink);

}  // namespace ringside::exporters
