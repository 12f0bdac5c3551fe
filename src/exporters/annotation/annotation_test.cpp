#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exporters/annotation/json_annotation.h"
#include "exporters/annotation/text_annotation.h"

namespace ringside::exporters {
namespace {

using annotation::AnnotatedFunction;
using annotation::AnnotatedInstruction;
using annotation::Annotation;
using annotation::JumpTarget;

AnnotatedInstruction instruction(std::uint64_t address, const char* text, std::uint32_t line,
                                 profile::Weight weight) {
  AnnotatedInstruction made;
  made.address = GuestVirt{address};
  made.bytes = {std::byte{0x90}, std::byte{0x0f}};
  made.text = text;
  made.line = line;
  made.sum = {weight, weight == 0 ? 0u : 1u};
  return made;
}

Annotation example() {
  Annotation made;
  made.input = "a;b.data";
  made.total = {200, 100};
  made.extent = 200;
  AnnotatedFunction f;
  f.name = "f(int)";
  f.image = "kernel";
  f.start = GuestVirt{0x1000};
  f.size = 0x30;
  f.load_bias = 0x800;
  f.sum = {100, 4};
  f.outside = {5, 1};
  f.lines = {{0, 0, "", {5, 1}},
             {made.strings.intern("/src/f.c"), 7, "for (;;)", {15, 1}},
             {made.strings.intern("/src/long_name.h"), 12, "x *= \"y\";", {80, 2}}};
  f.instructions = {instruction(0x1000, "xorl %eax, %eax", 1, 15),
                    instruction(0x1002, "imulq %rax, %rax", 2, 80),
                    instruction(0x1004, "jne 0x1002", 2, 0),
                    instruction(0x1006, "callq 0x4010", 1, 0), instruction(0x1028, "retq", 1, 0)};
  f.instructions[1].is_target = true;
  f.instructions[1].inlined = f.instructions[2].inlined = {made.strings.intern("g")};
  f.instructions[2].target = JumpTarget{GuestVirt{0x1002}, true, 0, 0};
  f.instructions[3].target = JumpTarget{GuestVirt{0x4010}, false, made.strings.intern("h"), 16};
  f.notes = {"a note"};
  made.functions = 1;
  made.function = [f](std::size_t) { return f; };
  made.left_out = 2;
  made.left_out_sum = {50, 3};
  return made;
}

std::string text_of(const AnnotationOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(write_annotation(example(), options, sink));
  return sink.text();
}

TEST(TextAnnotation, LinesThenInstructions) {
  EXPECT_EQ(text_of(), R"(# f(int)  [kernel]  at 0x1000, 48 bytes
# 50.00% of all samples: 100 of 200 ticks (4 samples)
# a note
#
#  Share  Source line
# ......  ...........
 80.00%  long_name.h:12    x *= "y";
 15.00%  f.c:7             for (;;)
  5.00%  (no source line)
#
#  Share  Offset  Instruction
# ......  ......  ...........
                 f.c:7  for (;;)
 15.00%       0  xorl    %eax, %eax
                 g (inlined) long_name.h:12  x *= "y";
 80.00%      >2  imulq   %rax, %rax
              4  jne     ↑ 2
                 f.c:7  for (;;)
              6  callq   0x4010 -> h+0x10
             28  retq
  5.00%  at addresses of no instruction shown

# 2 more functions, with 25.00% of all samples: --functions shows them
)");
}

TEST(TextAnnotation, AddressesAndBytes) {
  const std::string text = text_of({.width = 0, .show_addresses = true, .show_code = true});
  EXPECT_NE(text.find(" 15.00%     1000  90 0f  xorl    %eax, %eax\n"), std::string::npos) << text;
  EXPECT_NE(text.find("            1004  90 0f  jne     ↑ 1002\n"), std::string::npos) << text;
}

TEST(TextAnnotation, LinesFitTheTerminal) {
  const std::string text = text_of({.width = 24});
  EXPECT_NE(text.find("\n 80.00%  long_name.h:12…\n"), std::string::npos) << text;
}

TEST(JsonAnnotation, HasEverything) {
  StringSink sink;
  ASSERT_TRUE(write_json_annotation(example(), sink));
  const auto json = nlohmann::json::parse(sink.text());
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["input"], "a;b.data");
  EXPECT_EQ(json["weight"], 200);
  EXPECT_EQ(json["left_out"]["functions"], 2);
  const auto& f = json["functions"][0];
  EXPECT_EQ(f["name"], "f(int)");
  EXPECT_TRUE(f["inlined"].is_null());
  EXPECT_EQ(f["address"], "0x1000");
  EXPECT_EQ(f["image_address"], "0x800");
  EXPECT_EQ(f["percent"], 50.0);
  EXPECT_EQ(f["outside"]["samples"], 1);
  EXPECT_EQ(f["notes"][0], "a note");
  EXPECT_TRUE(f["lines"][0]["file"].is_null());
  EXPECT_EQ(f["lines"][2]["text"], "x *= \"y\";");
  EXPECT_EQ(f["lines"][2]["percent"], 80.0);
  const auto& jump = f["instructions"][2];
  EXPECT_EQ(jump["image_address"], "0x804");
  EXPECT_EQ(jump["offset"], 4);
  EXPECT_EQ(jump["bytes"], "900f");
  EXPECT_EQ(jump["text"], "jne 0x1002");
  EXPECT_EQ(jump["target"]["address"], "0x1002");
  EXPECT_EQ(jump["target"]["inside"], true);
  EXPECT_EQ(jump["inlined"], nlohmann::json::array({"g"}));
  EXPECT_EQ(jump["source"], 2);
  EXPECT_EQ(f["instructions"][3]["target"]["name"], "h");
  EXPECT_EQ(f["instructions"][3]["target"]["offset"], 16);
  EXPECT_EQ(f["instructions"][1]["is_target"], true);
}

TEST(JsonAnnotation, NumbersOfTheWrongSignOrNoneAreNumbers) {
  Annotation made = example();
  made.extent = 0;
  AnnotatedFunction empty = made.function(0);
  empty.sum.weight = 0;
  made.function = [empty](std::size_t) { return empty; };
  StringSink sink;
  ASSERT_TRUE(write_json_annotation(made, sink));
  EXPECT_EQ(nlohmann::json::parse(sink.text())["functions"][0]["percent"], 0.0);
}

}  // namespace
}  // namespace ringside::exporters
