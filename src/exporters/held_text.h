#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/sink.h"

namespace ringside::exporters {

// Holds text, with its colours, until another sink is ready for it. Beyond `most` bytes it is full:
// writing fails then, and what it holds is of no use.
class HeldText final : public Sink {
 public:
  explicit HeldText(std::size_t most) : most_(most) {}
  [[nodiscard]] bool is_full() const { return is_full_; }
  [[nodiscard]] Result<void> write(std::string_view text) override;
  [[nodiscard]] Result<void> paint(std::string_view text, Colour colour) override;
  [[nodiscard]] Result<void> write_to(Sink& sink) const;

 private:
  struct Piece {
    std::size_t end = 0;  // in text_
    std::optional<Colour> colour;
  };
  [[nodiscard]] Result<void> add(std::string_view text);

  std::size_t most_;
  bool is_full_ = false;
  std::string text_;
  std::vector<Piece> pieces_;
};

}  // namespace ringside::exporters
