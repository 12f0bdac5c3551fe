#pragma once

#include "app/outputs.h"

namespace ringside::cli {

class App;

// --by: the frame at the root of each stack.
void add_root_frame_flag(App& app, views::RootFrame& by);
// --by and --folded-style.
void add_stack_style_flags(App& app, exporters::ExportOptions& options);

}  // namespace ringside::cli
