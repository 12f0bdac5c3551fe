#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringside::importers::callgrind {

// Splits `amount` into as many parts as there are weights, in proportion to them and by largest
// remainder: the parts add up to the amount, and none is larger than its weight. The amount is at
// most the sum of the weights, which are not negative.
void apportion(std::int64_t amount, std::span<const std::int64_t> weights,
               std::vector<std::int64_t>& parts);

// Splits rows of amounts, one number for each event, over columns that have room for so much of
// each event. Nothing is lost: when the amounts of all rows are as large as the room of all
// columns, the parts of each row add up to it, and those in each column fill it.
class Splitter {
 public:
  explicit Splitter(std::size_t events) : events_(events), rooms_(events), next_(events) {}

  // Without columns.
  void start();
  // Each amount is not negative.
  void add_column(std::span<const std::int64_t> room);
  [[nodiscard]] std::size_t columns() const { return columns_; }

  struct Part {
    std::size_t column = 0;
    std::size_t event = 0;
    std::int64_t amount = 0;
  };
  // The parts of a row that are not 0, by column, in proportion to the room that is left. Valid
  // until the next call. Takes time for each column.
  [[nodiscard]] std::span<const Part> split_in_proportion(std::span<const std::int64_t> row);
  // The same into the first columns that have room: the row has few parts. Takes time for each
  // part.
  [[nodiscard]] std::span<const Part> split_in_order(std::span<const std::int64_t> row);

 private:
  [[nodiscard]] std::span<const Part> by_column();

  std::size_t events_;
  std::size_t columns_ = 0;
  std::vector<std::vector<std::int64_t>> rooms_;  // by event and column
  std::vector<std::size_t> next_;                 // by event: columns before it are full
  std::vector<std::int64_t> parts_;               // reused
  std::vector<Part> out_;                         // reused
};

}  // namespace ringside::importers::callgrind
