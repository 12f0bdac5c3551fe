#include "exporters/held_text.h"

namespace ringside::exporters {

Result<void> HeldText::add(std::string_view text) {
  is_full_ = is_full_ || text_.size() + pieces_.size() * sizeof(Piece) + text.size() > most_;
  if (is_full_) return fail(ErrorCode::kUnsupported, "more text than is held");
  text_ += text;
  return {};
}

Result<void> HeldText::write(std::string_view text) {
  RINGSIDE_TRY(add(text));
  if (pieces_.empty() || pieces_.back().colour) pieces_.emplace_back();
  pieces_.back().end = text_.size();
  return {};
}

Result<void> HeldText::paint(std::string_view text, Colour colour) {
  RINGSIDE_TRY(add(text));
  pieces_.push_back({text_.size(), colour});
  return {};
}

Result<void> HeldText::write_to(Sink& sink) const {
  std::size_t begin = 0;
  for (const Piece& piece : pieces_) {
    const std::string_view text = std::string_view(text_).substr(begin, piece.end - begin);
    RINGSIDE_TRY(piece.colour ? sink.paint(text, *piece.colour) : sink.write(text));
    begin = piece.end;
  }
  return {};
}

}  // namespace ringside::exporters
