#include "cases/minimize/minimize_orc.h"

#include <gtest/gtest.h>

#include "base/little_endian.h"

namespace ringside::cases {
namespace {

// Rows at 0x1000, 0x1010, 0x1020, … 0x10f0, numbered by their first byte; the sections lie above.
constexpr std::uint64_t kIps = 0x9000;
constexpr std::size_t kRows = 16;

TEST(MinimizeOrc, KeepsTheRowsOfTheRangesAndOneBehind) {
  std::vector<std::int32_t> ips;
  std::vector<std::byte> rows;
  for (std::size_t i = 0; i < kRows; ++i) {
    ips.push_back(static_cast<std::int32_t>(0x1000 + 0x10 * i) -
                  static_cast<std::int32_t>(kIps + 4 * i));
    rows.push_back(static_cast<std::byte>(i));
    rows.insert(rows.end(), 5, std::byte{0xee});
  }
  elf::Section ip_section;
  ip_section.address = {kIps};
  ip_section.bytes = std::as_bytes(std::span(ips));
  elf::Section row_section;
  row_section.bytes = rows;
  // From the middle of row 2 to the start of row 4, and a byte of row 9.
  const std::vector<CodeRange> ranges = {{{0x1028}, {0x1040}}, {{0x1095}, {0x1096}}};
  const OrcTables small = minimize_orc(ip_section, row_section, ranges);
  ASSERT_EQ(small.ips.size(), 5 * 4u);
  ASSERT_EQ(small.rows.size(), 5 * 6u);
  const std::size_t expected[] = {2, 3, 4, 9, 10};
  for (std::size_t i = 0; i < 5; ++i) {
    const auto offset = load<std::int32_t>(small.ips, 4 * i);
    EXPECT_EQ(kIps + 4 * i + static_cast<std::uint64_t>(std::int64_t{offset}),
              0x1000 + 0x10 * expected[i]);
    EXPECT_EQ(std::to_integer<std::size_t>(small.rows[6 * i]), expected[i]);
  }
  ip_section.bytes = ip_section.bytes.first(7);  // one row and a half
  EXPECT_LE(minimize_orc(ip_section, row_section, ranges).rows.size(), 6u);
}

}  // namespace
}  // namespace ringside::cases
