#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/sink.h"

namespace ringside::exporters {

// Holds text, with its colours, until another sink is ready for it.
class HeldText final : public Sink {
 public:
  [[nodiscard]] Result<void> write(std::string_view text) override;
  [[nodiscard]] Result<void> paint(std::string_view text, Colour colour) override;
  [[nodiscard]] Result<void> write_to(Sink& sink) const;

 private:
  struct Piece {
    std::size_t end = 0;  // in text_
    std::optional<Colour> colour;
  };
  std::string text_;
  std::vector<Piece> pieces_;
};

}  // namespace ringside::exporters
