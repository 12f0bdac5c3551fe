#include "exporters/parts/symbol_ranges.h"

#include <gtest/gtest.h>

namespace ringside::exporters {
namespace {

using Symbols = std::vector<FrameSymbol>;

constexpr std::uint64_t kEnd = 0x10000;

TEST(SymbolRanges, GoAsFarAsTheirFunctions) {
  SymbolRanges ranges(0x1000, kEnd);
  ranges.add(0x1010, 0x1000, 0x100, 1);
  ranges.add(0x1080, 0x1000, 0x100, 1);
  ranges.add(0x1200, 0x1200, 0x40, 2);
  EXPECT_EQ(ranges.take(),
            (Symbols{{0x1000, 0x1100, 1, 0x1010, 0x1080}, {0x1200, 0x1240, 2, 0x1200, 0x1200}}));
}

TEST(SymbolRanges, WithoutASizeFromTheFirstFrameToTheLast) {
  SymbolRanges ranges(0x1000, kEnd);
  ranges.add(0x1010, 0, 0, 1);
  ranges.add(0x1080, 0, 0, 1);
  ranges.add(0x1090, 0, 0, 2);
  ranges.add(0x10a0, 0, 0, 1);
  EXPECT_EQ(ranges.take(), (Symbols{{0x1010, 0x1081, 1, 0x1010, 0x1080},
                                    {0x1090, 0x1091, 2, 0x1090, 0x1090},
                                    {0x10a0, 0x10a1, 1, 0x10a0, 0x10a0}}));
}

// A function in another one, as assembler code has them: each frame keeps its name.
TEST(SymbolRanges, DoNotGoOverFramesOfOthers) {
  SymbolRanges ranges(0x1000, kEnd);
  ranges.add(0x1010, 0x1000, 0x100, 1);
  ranges.add(0x1050, 0x1008, 0x60, 2);
  ranges.add(0x1090, 0x1000, 0x100, 1);
  EXPECT_EQ(ranges.take(), (Symbols{{0x1000, 0x1011, 1, 0x1010, 0x1010},
                                    {0x1011, 0x1051, 2, 0x1050, 0x1050},
                                    {0x1051, 0x1100, 1, 0x1090, 0x1090}}));
}

TEST(SymbolRanges, StayInTheirImage) {
  SymbolRanges ranges(0x1000, kEnd);
  ranges.add(0x1010, 0x800, ~std::uint64_t{0} - 0x800, 1);
  ranges.add(kEnd, kEnd, 1, 2);
  EXPECT_EQ(ranges.take(), (Symbols{{0x1000, kEnd, 1, 0x1010, 0x1010}}));
}

// A range that its frame is not in is none.
TEST(SymbolRanges, DamagedRangesAreNotTaken) {
  SymbolRanges ranges(0x1000, kEnd);
  ranges.add(0x1010, 0x2000, 0x10, 1);
  ranges.add(0x1010, 0x1000, 0x100, 2);
  EXPECT_EQ(ranges.take(), (Symbols{{0x1010, 0x1011, 1, 0x1010, 0x1010}}));
}

}  // namespace
}  // namespace ringside::exporters
