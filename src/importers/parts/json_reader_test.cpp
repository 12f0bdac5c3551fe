#include "importers/parts/json_reader.h"

#include <gmock/gmock.h>

#include <array>

#include "importers/parts/json_columns.h"

namespace ringside::importers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum State : JsonState { kList = 2, kElement, kAny, kDeep };
constexpr std::array<JsonField, 4> kFields = {{{kJsonDocument, "list", kList},
                                               {kList, "[]", kElement},
                                               {kJsonDocument, "*", kAny},
                                               {kAny, "deep", kDeep}}};

// Writes down what it is given.
class Diary final : public JsonVisitor {
 public:
  std::vector<std::string> lines;

  bool begin(JsonState state) override { return add("begin", state); }
  bool end(JsonState state) override { return add("end", state); }
  bool name(JsonState state, std::string_view name) override {
    return add("name " + std::string(name), state);
  }
  bool value(JsonState state, const JsonValue& value) override {
    const std::string text = value.is_number()   ? fmt::format("{}", value.real)
                             : value.is_string() ? "\"" + std::string(value.string) + "\""
                             : value.is_null()   ? "null"
                             : value.type == JsonValue::Type::kBoolean
                                 ? fmt::format("boolean {}", value.integer)
                                 : "container";
    return add(text, state) && text != "\"stop\"";
  }

 private:
  bool add(const std::string& what, JsonState state) {
    lines.push_back(fmt::format("{}: {}", state, what));
    return true;
  }
};

class JsonReaderTest : public ::testing::Test {
 protected:
  std::optional<JsonDamage> read(const std::string& text) {
    diary = {};
    const Input input{"input", as_bytes(text), {}};
    return JsonReader(input).read(kFields, diary);
  }
  Diary diary;
};

TEST_F(JsonReaderTest, ValuesHaveTheStateOfTheirPlace) {
  EXPECT_FALSE(read(R"({"list":[1,-2.5,"x",null,true,[7],{"list":[8]}]})"));
  EXPECT_THAT(diary.lines,
              ElementsAre("1: begin", "2: begin", "3: 1", "3: -2.5", "3: \"x\"", "3: null",
                          "3: boolean 1", "3: container", "3: container", "2: end", "1: end"));
}

TEST_F(JsonReaderTest, OtherMembersAreSkippedOrNamed) {
  EXPECT_FALSE(read(R"({"a":{"x":[[1]],"deep":2},"b":3,"list":4})"));
  EXPECT_THAT(diary.lines, ElementsAre("1: begin", "4: name a", "4: begin", "5: 2", "4: end",
                                       "4: name b", "4: 3", "2: 4", "1: end"));
}

TEST_F(JsonReaderTest, AnArrayInPlaceOfAnObjectIsAContainer) {
  EXPECT_FALSE(read(R"({"a":[1],"list":{"x":1}})"));
  EXPECT_THAT(diary.lines,
              ElementsAre("1: begin", "4: name a", "4: container", "2: container", "1: end"));
  EXPECT_FALSE(read("[1]"));
  EXPECT_THAT(diary.lines, ElementsAre("1: container"));
}

using JsonReaderLong = JsonReaderTest;
TEST_F(JsonReaderLong, AValueMayBeAsLongAsItsFile) {
  const std::string text((5 << 20) + 1, 'x');
  EXPECT_FALSE(read(R"({"list":[")" + text + R"(",1]})"));
  EXPECT_THAT(diary.lines, ElementsAre("1: begin", "2: begin", "3: \"" + text + '"', "3: 1",
                                       "2: end", "1: end"));
}

TEST_F(JsonReaderTest, TheVisitorEndsTheReading) {
  EXPECT_FALSE(read(R"({"list":["stop",1]})"));
  EXPECT_THAT(diary.lines, ElementsAre("1: begin", "2: begin", "3: \"stop\""));
}

TEST_F(JsonReaderTest, DamageHasItsOffset) {
  const auto damage = read(R"({"list":[1,x]})");
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->at, "offset 0xc");
  EXPECT_FALSE(damage->is_cut);
  EXPECT_THAT(damage->reason, HasSubstr("syntax error while parsing value"));
  const auto cut = read(R"({"list":[1,)");
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->is_cut);
}

TEST_F(JsonReaderTest, ANumberAtTheEndMayBeCut) {
  EXPECT_TRUE(read(R"({"list":[1,23)")->is_cut);
  EXPECT_THAT(diary.lines, ElementsAre("1: begin", "2: begin", "3: 1"));
}

TEST_F(JsonReaderTest, NestingIsBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_FALSE(read(nested(JsonReader::kDeepest)));
  EXPECT_THAT(read(nested(JsonReader::kDeepest + 1))->reason, HasSubstr("more than 256"));
}

TEST_F(JsonReaderTest, IndexesAreWholeNumbers) {
  const auto index = [](double real) {
    return JsonValue{JsonValue::Type::kReal, 0, real, {}}.index();
  };
  EXPECT_EQ(index(4294967294.0), 4294967294u);
  EXPECT_FALSE(index(4294967295.0));
  EXPECT_FALSE(index(-1));
  EXPECT_FALSE(index(0.5));
  EXPECT_EQ((JsonValue{JsonValue::Type::kInteger, 7, 7, {}}.index()), 7u);
  EXPECT_FALSE((JsonValue{JsonValue::Type::kInteger, -7, -7, {}}.index()));
  EXPECT_FALSE((JsonValue{JsonValue::Type::kString, 0, 0, "7"}.index()));
}

TEST(TableBudget, CountsANodeOfTheRecordingOnce) {
  TableBudget budget;
  constexpr std::uint32_t kMany = 8'000'000;
  for (int maker = 0; maker < 100; ++maker) EXPECT_TRUE(budget.take_node(kMany));
  EXPECT_FALSE(budget.take_node(20'000'000));
}

}  // namespace
}  // namespace ringside::importers
