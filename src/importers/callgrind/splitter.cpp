#include "importers/callgrind/splitter.h"

#include <algorithm>

namespace ringside::importers::callgrind {
namespace {

__extension__ using Wide = unsigned __int128;

struct Rest {
  Wide remainder;
  std::size_t index;
};

// Larger ones first; of equal ones that which comes first.
bool comes_before(const Rest& a, const Rest& b) {
  return a.remainder != b.remainder ? a.remainder > b.remainder : a.index < b.index;
}

}  // namespace

void apportion(std::int64_t amount, std::span<const std::int64_t> weights,
               std::vector<std::int64_t>& parts) {
  parts.assign(weights.size(), 0);
  Wide sum = 0;
  for (const std::int64_t weight : weights) sum += static_cast<Wide>(weight);
  if (amount <= 0 || sum == 0) return;
  std::vector<Rest> rests;
  std::int64_t left = amount;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Wide share = static_cast<Wide>(amount) * static_cast<Wide>(weights[i]);
    parts[i] = static_cast<std::int64_t>(share / sum);
    left -= parts[i];
    if (const Wide remainder = share % sum; remainder != 0) rests.push_back({remainder, i});
  }
  // Fewer than there are remainders.
  const std::size_t more = std::min(static_cast<std::size_t>(left), rests.size());
  std::nth_element(rests.begin(), rests.begin() + static_cast<std::ptrdiff_t>(more), rests.end(),
                   comes_before);
  for (std::size_t i = 0; i < more; ++i) ++parts[rests[i].index];
}

void Splitter::start() {
  columns_ = 0;
  for (auto& room : rooms_) room.clear();
  std::fill(next_.begin(), next_.end(), 0);
}

void Splitter::add_column(std::span<const std::int64_t> room) {
  ++columns_;
  for (std::size_t event = 0; event < events_; ++event)
    rooms_[event].push_back(std::max<std::int64_t>(room[event], 0));
}

std::span<const Splitter::Part> Splitter::split_in_proportion(std::span<const std::int64_t> row) {
  out_.clear();
  for (std::size_t event = 0; event < events_; ++event) {
    if (row[event] == 0) continue;
    std::vector<std::int64_t>& room = rooms_[event];
    apportion(row[event], room, parts_);
    for (std::size_t column = 0; column < columns_; ++column) {
      if (parts_[column] == 0) continue;
      room[column] -= parts_[column];
      out_.push_back({column, event, parts_[column]});
    }
  }
  return by_column();
}

std::span<const Splitter::Part> Splitter::split_in_order(std::span<const std::int64_t> row) {
  out_.clear();
  for (std::size_t event = 0; event < events_; ++event) {
    std::vector<std::int64_t>& room = rooms_[event];
    std::size_t& column = next_[event];
    for (std::int64_t left = row[event]; left > 0 && column < columns_;) {
      const std::int64_t part = std::min(left, room[column]);
      if (part != 0) out_.push_back({column, event, part});
      room[column] -= part;
      left -= part;
      if (room[column] == 0) ++column;
    }
  }
  return by_column();
}

std::span<const Splitter::Part> Splitter::by_column() {
  std::stable_sort(out_.begin(), out_.end(),
                   [](const Part& a, const Part& b) { return a.column < b.column; });
  return out_;
}

}  // namespace ringside::importers::callgrind
