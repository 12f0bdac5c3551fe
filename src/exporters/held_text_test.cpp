#include "exporters/held_text.h"

#include <gtest/gtest.h>

namespace ringside::exporters {
namespace {

// Shows colours as brackets.
class Brackets final : public Sink {
 public:
  [[nodiscard]] Result<void> write(std::string_view text) override {
    text_ += text;
    return {};
  }
  [[nodiscard]] Result<void> paint(std::string_view text, Colour colour) override {
    text_ += colour == Colour::kRed ? "[red " : "[green ";
    text_ += text;
    text_ += ']';
    return {};
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

TEST(HeldText, GivesTextAndColoursAsTheyCame) {
  HeldText held(1000);
  Brackets direct;
  for (Sink* sink : {static_cast<Sink*>(&held), static_cast<Sink*>(&direct)}) {
    ASSERT_TRUE(sink->paint("1 %", Colour::kGreen));
    ASSERT_TRUE(sink->paint("2 %", Colour::kRed));
    ASSERT_TRUE(sink->write(" a"));
    ASSERT_TRUE(sink->write("b\n"));
    ASSERT_TRUE(sink->paint("", Colour::kRed));
    ASSERT_TRUE(sink->write("c"));
  }
  Brackets later;
  ASSERT_TRUE(held.write_to(later));
  EXPECT_EQ(later.text(), direct.text());
  EXPECT_EQ(later.text(), "[green 1 %][red 2 %] ab\n[red ]c");
}

TEST(HeldText, StopsWhereTheOtherSinkFails) {
  class Full final : public Sink {
    [[nodiscard]] Result<void> write(std::string_view) override {
      return fail(ErrorCode::kIo, "full");
    }
  };
  HeldText held(1000);
  ASSERT_TRUE(held.write("text"));
  Full full;
  const auto written = held.write_to(full);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "full");
}

TEST(HeldText, IsFullBeyondItsBound) {
  HeldText held(100);
  EXPECT_TRUE(held.write(std::string(60, 'x')));
  EXPECT_FALSE(held.is_full());
  EXPECT_FALSE(held.write(std::string(60, 'x')));
  EXPECT_TRUE(held.is_full());
  EXPECT_FALSE(held.paint("", Colour::kRed));
}

}  // namespace
}  // namespace ringside::exporters
