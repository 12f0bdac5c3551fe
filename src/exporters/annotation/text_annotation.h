#pragma once

#include <cstddef>

#include "annotation/annotated_function.h"
#include "exporters/sink.h"

namespace ringside::exporters {

struct AnnotationOptions {
  // Cells of the terminal, into which lines are cut; 0: nothing is cut.
  std::size_t width = 0;
  bool show_addresses = false;  // the guest's, in place of offsets in the function
  bool show_code = false;       // the bytes of each instruction
};

// `annotate`: for each function a head with '#', the table of its source lines, heaviest first, and
// its instructions by address below their source lines. Shares are of the function's samples.
[[nodiscard]] Result<void> write_annotation(const annotation::Annotation& annotation,
                                            const AnnotationOptions& options, Sink& sink);

}  // namespace ringside::exporters
