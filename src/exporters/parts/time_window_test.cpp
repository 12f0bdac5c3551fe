#include "exporters/parts/time_window.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside::exporters {
namespace {

struct Row {
  std::uint64_t time = 0;
  char name = 0;
};

// The names of rows as a window of `most` rows hands them on; '|' is where the input ends.
std::string through(std::size_t most, const std::vector<Row>& rows) {
  TimeWindow<Row> window(most);
  std::string names;
  const auto take = [&](const Row& row) { names += row.name; };
  for (const Row& row : rows) window.add(row, take);
  names += '|';
  window.finish(take);
  return names;
}

TEST(TimeWindow, RowsComeInOrderOfTimeAndOfTheirOwn) {
  const std::vector<Row> rows = {{3, 'a'}, {1, 'b'}, {3, 'c'}, {2, 'd'}, {1, 'e'}};
  EXPECT_EQ(through(5, rows), "|bedac");
  EXPECT_EQ(through(2, rows), "bde|ac");
  EXPECT_EQ(through(1, {}), "|");
}

}  // namespace
}  // namespace ringside::exporters
