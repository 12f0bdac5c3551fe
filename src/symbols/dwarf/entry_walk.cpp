#include "symbols/dwarf/entry_walk.h"

namespace ringside::symbols::dwarf {

const Abbrev* EntryWalk::next() {
  if (abbrev_ != nullptr) {
    leave_entry();
    if (level_ == 0) return nullptr;  // the first entry has no children, or they were skipped
  }
  while (!cursor_.empty()) {
    entry_ = cursor_.offset();
    const std::uint64_t code = cursor_.read_uleb();
    if (code == 0) {  // the end of a list of siblings
      if (level_ <= 1) return nullptr;
      --level_;
      continue;
    }
    abbrev_ = abbrevs_.find(code);
    if (abbrev_ == nullptr) return nullptr;
    attributes_ = cursor_.offset();
    at_attributes_ = true;
    depth_ = level_;
    return abbrev_;
  }
  return nullptr;
}

// Moves the cursor behind the entry at hand, and behind its children where those are not wanted.
void EntryWalk::leave_entry() {
  if (skip_ && abbrev_->has_children) {
    skip_ = false;
    skip_subtree();
    return;
  }
  skip_ = false;
  if (at_attributes_) abbrevs_.skip_attributes(*abbrev_, cursor_);
  if (abbrev_->has_children) ++level_;
}

void EntryWalk::skip_subtree() {
  // Counted levels, where a sibling attribute does not show the way. The entry at hand opens one.
  std::uint64_t open = 0;
  const Abbrev* abbrev = abbrev_;
  std::uint64_t attributes = attributes_;
  while (true) {
    cursor_.seek(attributes);
    bool jumped = false;
    if (abbrev->has_children && abbrev->sibling_form != 0) {
      ByteCursor at = cursor_;
      const auto sibling = unit_.reference(abbrevs_.read_sibling(*abbrev, at));
      // Only forwards, so that no walk is endless.
      jumped = sibling && *sibling > attributes && !at.failed();
      if (jumped) cursor_.seek(*sibling);
    }
    if (!jumped) {
      abbrevs_.skip_attributes(*abbrev, cursor_);
      if (abbrev->has_children) ++open;
    }
    while (true) {
      if (open == 0 || cursor_.empty()) return;
      const std::uint64_t code = cursor_.read_uleb();
      if (code != 0) {
        abbrev = abbrevs_.find(code);
        break;
      }
      --open;
    }
    if (abbrev == nullptr) {
      cursor_.skip(~0ull);
      return;
    }
    attributes = cursor_.offset();
  }
}

}  // namespace ringside::symbols::dwarf
