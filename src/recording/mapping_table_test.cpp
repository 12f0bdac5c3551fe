#include "recording/mapping_table.h"

#include <gtest/gtest.h>

namespace ringside::recording {
namespace {

Mapping make(std::uint32_t id, std::uint64_t start, std::uint64_t end, std::uint64_t space = 0) {
  Mapping mapping;
  mapping.id = id;
  mapping.image = id + 100;
  mapping.start = {start};
  mapping.end = {end};
  mapping.address_space = space;
  return mapping;
}

std::uint32_t find(const MappingTable& table, std::uint64_t address, std::uint64_t space = 0) {
  const auto place = table.find(space, {address});
  return place ? place->mapping : 0;
}

TEST(MappingTable, ANewMappingReplacesWhatItOverlaps) {
  MappingTable table;
  table.add(make(1, 0x1000, 0x5000));
  table.add(make(2, 0x2000, 0x3000));  // in the middle
  EXPECT_EQ(find(table, 0xfff), 0u);
  EXPECT_EQ(find(table, 0x1000), 1u);
  EXPECT_EQ(find(table, 0x2000), 2u);
  EXPECT_EQ(find(table, 0x2fff), 2u);
  EXPECT_EQ(find(table, 0x3000), 1u);
  EXPECT_EQ(find(table, 0x5000), 0u);
  table.add(make(3, 0x800, 0x2800));  // over the front of two
  EXPECT_EQ(find(table, 0x1000), 3u);
  EXPECT_EQ(find(table, 0x2800), 2u);
  table.add(make(4, 0, ~0ull));
  EXPECT_EQ(find(table, 0x2800), 4u);
  table.add(make(5, 10, 10));
  EXPECT_EQ(find(table, 10), 4u);
}

TEST(MappingTable, AddressSpacesComeBeforeTheCommonOne) {
  MappingTable table;
  table.add(make(1, 0x1000, 0x9000));
  table.add(make(2, 0x1000, 0x2000, 7));
  EXPECT_EQ(find(table, 0x1000, 7), 2u);
  EXPECT_EQ(find(table, 0x2000, 7), 1u);
  EXPECT_EQ(find(table, 0x1000, 8), 1u);
}

}  // namespace
}  // namespace ringside::recording
