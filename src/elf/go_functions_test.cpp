#include "elf/go_functions.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/little_endian.h"

namespace ringside::elf {
namespace {

constexpr std::uint64_t kText = 0x401000;

// A table of two functions, of 0x20 and 0x40 bytes, as Go's linker lays it out.
struct Version {
  std::uint32_t magic = 0;
  std::size_t pointer = 8;  // bytes
  bool has_text = true;     // else entries are addresses
};

std::vector<std::byte> table_of(const Version& version, std::uint64_t text) {
  const std::size_t pointer = version.pointer;
  const std::size_t entry = version.has_text ? 4 : pointer;
  const std::string names = std::string("main.main") + '\0' + "main.(*ring).stir" + '\0';
  const std::size_t names_at = 8 + 8 * pointer;
  const std::size_t lookup = (names_at + names.size() + 7) / 8 * 8;
  const std::size_t entries = 5 * entry;
  const std::uint64_t base = version.has_text ? 0 : kText;
  std::vector<std::byte> table;
  append(version.magic, 4, table);
  append(0, 2, table);
  append(1, 1, table);
  append(pointer, 1, table);
  append(2, pointer, table);  // functions
  append(1, pointer, table);  // files
  if (version.has_text) append(text, pointer, table);
  append(names_at, pointer, table);
  for (int other = 0; other < 3; ++other) append(names_at, pointer, table);
  append(lookup, pointer, table);
  table.resize(names_at);
  table.insert(table.end(), reinterpret_cast<const std::byte*>(names.data()),
               reinterpret_cast<const std::byte*>(names.data() + names.size()));
  table.resize(lookup);
  const std::size_t size = entry + 8;  // of what an entry leads to
  append(base, entry, table);
  append(entries, entry, table);
  append(base + 0x20, entry, table);
  append(entries + size, entry, table);
  append(base + 0x60, entry, table);
  for (const std::uint64_t name : {0u, 10u}) {
    append(base, entry, table);
    append(name, 4, table);
    append(0, 4, table);
  }
  return table;
}

class GoFunctions : public ::testing::TestWithParam<Version> {
 protected:
  static void expect_both(const std::vector<FunctionSymbol>& found) {
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].name, "main.main");
    EXPECT_EQ(found[0].address.value, kText);
    EXPECT_EQ(found[0].size, 0x20u);
    EXPECT_EQ(found[1].name, "main.(*ring).stir");
    EXPECT_EQ(found[1].address.value, kText + 0x20);
    EXPECT_EQ(found[1].size, 0x40u);
    EXPECT_TRUE(found[1].is_function);
  }
};

TEST_P(GoFunctions, AreReadFromTheTable) {
  const auto table = table_of(GetParam(), kText);
  expect_both(go_functions(table, {0}));
}

TEST_P(GoFunctions, OfAProgramThatIsRelocatedBeginAtItsText) {
  const auto table = table_of(GetParam(), 0);
  expect_both(go_functions(table, {kText}));
}

// Wherever it is cut or damaged: nothing outside of it is read, which AddressSanitizer watches.
TEST_P(GoFunctions, OfADamagedTableAreThoseBeforeTheDamage) {
  const auto table = table_of(GetParam(), kText);
  const auto expect_names_in = [](const std::vector<std::byte>& bytes) {
    const auto* const first = reinterpret_cast<const char*>(bytes.data());
    for (const FunctionSymbol& function : go_functions(bytes, {kText})) {
      EXPECT_GE(function.name.data(), first);
      EXPECT_LT(function.name.data() + function.name.size(), first + bytes.size());
    }
  };
  for (std::size_t size = 0; size < table.size(); ++size)
    expect_names_in({table.begin(), table.begin() + static_cast<std::ptrdiff_t>(size)});
  for (std::size_t at = 0; at < table.size(); ++at) {
    std::vector<std::byte> damaged = table;
    damaged[at] = std::byte{0xff};
    expect_names_in(damaged);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, GoFunctions,
                         ::testing::Values(Version{0xfffffffa, 8, false},
                                           Version{0xfffffffa, 4, false},
                                           Version{0xfffffff0, 8, true},
                                           Version{0xfffffff0, 4, true},
                                           Version{0xfffffff1, 8, true}));

TEST(GoFunctionsOfNothing, AreNone) {
  EXPECT_TRUE(go_functions({}, {}).empty());
  const std::vector<std::byte> zeros(256);
  EXPECT_TRUE(go_functions(zeros, {}).empty());
}

}  // namespace
}  // namespace ringside::elf
