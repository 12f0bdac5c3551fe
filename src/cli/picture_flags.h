#pragma once

#include <string>

#include "exporters/flamegraph/svg_flamegraph.h"

namespace ringside::cli {

class App;

// The text over a flame graph, its size and its direction.
void add_picture_flags(App& picture, exporters::FlamegraphOptions& options);
// --colors and --theme. `usual` is the colouring that `options` has.
void add_coloring_flags(App& picture, exporters::FlamegraphOptions& options,
                        const std::string& usual);

}  // namespace ringside::cli
