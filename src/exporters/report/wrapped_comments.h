#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "exporters/sink.h"

namespace ringside::exporters {

// Breaks lines that begin with '#' at spaces, so that they fit a terminal; all else goes on as it
// is.
class WrappedComments final : public Sink {
 public:
  WrappedComments(Sink& to, std::size_t width) : to_(to), width_(width) {}
  [[nodiscard]] Result<void> write(std::string_view text) override;
  [[nodiscard]] Result<void> paint(std::string_view text, Colour colour) override;
  // Writes a last comment that no line's end has ended.
  [[nodiscard]] Result<void> finish();

 private:
  Sink& to_;
  std::size_t width_;
  bool at_line_start_ = true;
  std::string comment_;  // so far
};

}  // namespace ringside::exporters
