#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "exporters/sink.h"

namespace ringside::cli {

class App;

// How `report` shows its text: on a terminal through a pager, in colour and as wide as it is; all
// of it and plain in a pipe, and where --stdio wants that.
struct ReportScreen {
  bool stdio = false;
  bool no_pager = false;
  std::string color = "auto";

  void add_to(App& app);
  // --no-pager alone, for text without rows and shares.
  void add_pager_to(App& app);
  // For people at a terminal.
  [[nodiscard]] bool is_terminal() const;
  // Cells of a line; 0: lines are not cut.
  [[nodiscard]] std::size_t width() const;
  // `write` writes the text, which it may be asked for again where a pager cannot be run.
  [[nodiscard]] Result<void> show(const std::function<Result<void>(exporters::Sink&)>& write) const;

 private:
  [[nodiscard]] bool wants_colours(const std::string& pager) const;
};

}  // namespace ringside::cli
