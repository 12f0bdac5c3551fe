#pragma once

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/dense_table.h"
#include "profile/stack_tree.h"

namespace ringside::importers {

// Finds the frame of a name. Names are kept together, apart from the text: that they are near each
// other is what a look-up's time depends on.
class FrameNames {
 public:
  // The frame of `name`; `make()` gives it when the name is seen for the first time.
  template <class Make>
  profile::FrameId find(std::string_view name, Make&& make) {
    const std::size_t known = names_.size();
    Entry& entry = names_[names_.find_or_add(name)];
    if (names_.size() != known) {
      entry.key = keep(name);
      entry.frame = make();
    }
    return entry.frame;
  }

 private:
  static constexpr std::size_t kChunk = 64 << 10;
  struct Entry {
    std::string_view key;
    profile::FrameId frame = 0;
  };
  struct Hash {
    std::uint64_t operator()(std::string_view name) const {
      return XXH3_64bits(name.data(), name.size());
    }
  };

  [[nodiscard]] std::string_view keep(std::string_view name) {
    if (chunks_.empty() || chunks_.back().size() + name.size() > chunks_.back().capacity()) {
      chunks_.emplace_back();
      chunks_.back().reserve(std::max(kChunk, name.size()));
    }
    std::string& chunk = chunks_.back();
    chunk += name;
    return std::string_view(chunk).substr(chunk.size() - name.size());
  }

  DenseTable<std::string_view, Entry, Hash> names_;
  std::deque<std::string> chunks_;  // none grows beyond what is reserved for it
};

}  // namespace ringside::importers
