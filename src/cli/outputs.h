#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/owner.h"

namespace ringside::cli {

class App;

// Writes to `path` ("-": standard output) what `write` produces; the file appears only when it is
// whole.
[[nodiscard]] Result<void> write_to(const std::string& path,
                                    const std::function<Result<void>(exporters::Sink&)>& write);

// Error kUsage if no format belongs to the path's extension.
[[nodiscard]] Result<void> check_extension(const std::string& path);

// How stacks are written, whatever the file.
struct StackStyle {
  views::OwnerLevel by = views::OwnerLevel::kComm;
  bool emerald = false;  // folded stacks as Emerald's profiler writes them

  // --by and --folded-style.
  void add_to(App& app);
};

// The format that belongs to the path's extension: .svg or .folded.
[[nodiscard]] Result<void> write_by_extension(const profile::Profile& profile,
                                              const std::string& path, const StackStyle& style);

// --by alone.
void add_owner_level(App& app, views::OwnerLevel& level);

}  // namespace ringside::cli
