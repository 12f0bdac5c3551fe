#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ringside::recording {

// Maps the ids of a file to dense ones. A file gives its ids in ascending batches; a batch that
// stood in a damaged block leaves a hole, which costs no memory however large it is.
class IdMap {
 public:
  // Opens a batch whose first id is `first_id`. False if that id was given before: the batch is
  // bad.
  [[nodiscard]] bool begin_batch(std::uint32_t first_id) {
    if (first_id < next_id_) return false;
    is_identity_ = is_identity_ && first_id == next_id_;
    if (ranges_.empty() || first_id != next_id_)
      ranges_.push_back({first_id, static_cast<std::uint32_t>(dense_.size())});
    next_id_ = first_id;
    return true;
  }
  // The next id of the batch stands for `dense`.
  void add(std::uint32_t dense) {
    is_identity_ = is_identity_ && dense == next_id_;
    dense_.push_back(dense);
    ++next_id_;
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t id) const {
    if (id >= next_id_) return std::nullopt;
    if (is_identity_ && id != 0) return id;
    auto it = std::upper_bound(ranges_.begin(), ranges_.end(), id,
                               [](std::uint32_t value, const Range& r) { return value < r.first; });
    if (it == ranges_.begin()) return std::nullopt;
    const std::size_t end = it == ranges_.end() ? dense_.size() : it->index;
    --it;
    const std::size_t index = std::size_t{it->index} + (id - it->first);
    if (index >= end) return std::nullopt;
    return dense_[index];
  }

 private:
  struct Range {
    std::uint32_t first;
    std::uint32_t index;  // of its first id in dense_
  };
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> dense_;
  std::uint64_t next_id_ = 1;
  bool is_identity_ = true;  // as it is where nothing was lost: there is nothing to look up
};

}  // namespace ringside::recording
