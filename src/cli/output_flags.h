#pragma once

#include "app/outputs.h"

namespace ringside::cli {

class App;

// --by: the frame at the root of each stack.
void add_root_frame_flag(App& app, views::RootFrame& by);
// --by and --folded-style.
void add_stack_style_flags(App& app, exporters::ExportOptions& options);
// Error kUsage: Emerald's style is asked for, and with it an option of `section` that this style
// has no place for.
[[nodiscard]] Result<void> check_stack_style(const App& section,
                                             const exporters::ExportOptions& options);

}  // namespace ringside::cli
