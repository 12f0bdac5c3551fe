#include "exporters/flamegraph/frame_label.h"

#include <gtest/gtest.h>

namespace ringside::exporters {
namespace {

constexpr const char* kPush = "std::vector<int, std::allocator<int>>::push_back(int const&)";

TEST(FrameLabel, WhatFitsIsWhole) {
  EXPECT_EQ(frame_label(kPush, 60), kPush);
  EXPECT_EQ(frame_label("größe", 5), "größe");
  EXPECT_EQ(frame_label("", 0), "");
}

TEST(FrameLabel, TheFunctionStaysLongest) {
  EXPECT_EQ(frame_label(kPush, 59), "std::vector<…>::push_back(…)");
  EXPECT_EQ(frame_label(kPush, 28), "std::vector<…>::push_back(…)");
  EXPECT_EQ(frame_label(kPush, 27), "std::…::push_back(…)");
  EXPECT_EQ(frame_label(kPush, 20), "std::…::push_back(…)");
  EXPECT_EQ(frame_label(kPush, 19), "…::push_back(…)");
  EXPECT_EQ(frame_label(kPush, 15), "…::push_back(…)");
  EXPECT_EQ(frame_label(kPush, 14), "push_back(…)");
  EXPECT_EQ(frame_label(kPush, 9), "push_bac…");
  EXPECT_EQ(frame_label(kPush, 4), "pus…");
  EXPECT_EQ(frame_label(kPush, 0), "");
}

TEST(FrameLabel, AsManyOfTheLastPartsAsFit) {
  const char* const name = "kernel::mm::slab::cache::Cache::alloc";
  EXPECT_EQ(frame_label(name, 34), "kernel::…::cache::Cache::alloc");
  EXPECT_EQ(frame_label(name, 29), "kernel::…::Cache::alloc");
  EXPECT_EQ(frame_label(name, 22), "kernel::…::alloc");
  EXPECT_EQ(frame_label(name, 15), "…::alloc");
}

// Two letters and "…" are no name. A name of two letters is.
TEST(FrameLabel, NothingInPlaceOfTwoLetters) {
  for (const std::size_t room : {0u, 1u, 2u, 3u}) {
    EXPECT_EQ(frame_label("schedule", room), "");
    EXPECT_EQ(frame_label(kPush, room), "");
  }
  EXPECT_EQ(frame_label("dd", 2), "dd");
  EXPECT_EQ(frame_label("irq", 3), "irq");
}

TEST(FrameLabel, PlainNamesAreCutAtTheirEnd) {
  EXPECT_EQ(frame_label("__do_sys_read_and_write", 10), "__do_sys_…");
  EXPECT_EQ(frame_label("größer", 4), "grö…");
  EXPECT_EQ(frame_label("<unknown:0xffffffff81000010>", 12), "<unknown:0x…");
  EXPECT_EQ(frame_label("[lost stack]", 6), "[lost…");
  EXPECT_EQ(frame_label("schedule_timeout fair.c:1234", 20), "schedule_timeout fa…");
}

TEST(FrameLabel, Cxx) {
  EXPECT_EQ(frame_label("void call_leaf<&parse>(unsigned int, unsigned long)", 30),
            "void call_leaf<…>(…)");
  EXPECT_EQ(frame_label("void call_leaf<&parse>(unsigned int, unsigned long)", 18),
            "call_leaf<…>(…)");
  EXPECT_EQ(frame_label("std::ostream& std::operator<< <char>(std::ostream&, char const*)", 40),
            "std::ostream& std::operator<< <…>(…)");
  EXPECT_EQ(frame_label("ns::Handler::operator()(int, long)", 32), "ns::Handler::operator()(…)");
  EXPECT_EQ(frame_label("ns::Pointer<Thing>::operator->() const", 36),
            "ns::Pointer<…>::operator->() const");
  EXPECT_EQ(frame_label("run(int)::{lambda(int, char)#1}::operator()(int) const", 45),
            "run(…)::{lambda(…)#1}::operator()(…) const");
}

TEST(FrameLabel, Rust) {
  EXPECT_EQ(frame_label("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 20), "<…>::drop");
  EXPECT_EQ(frame_label("kernel::task::spawn::<impl Fn(u8) -> u8>::{{closure}}", 40),
            "kernel::task::spawn::<…>::{{closure}}");
}

TEST(FrameLabel, BracketsThatAreNone) {
  EXPECT_EQ(frame_label("a<b<c<d<e", 6), "a<b<c…");
  EXPECT_EQ(frame_label("a(bcdef>::g", 8), "…::g");
  EXPECT_EQ(frame_label("))))::>>>>::g", 8), "…::g");
  EXPECT_EQ(frame_label("::::::::", 4), "…::");
}

// Neither a deep name nor one of many parts takes time that grows with its square.
TEST(FrameLabelLong, LongNames) {
  constexpr std::size_t kLong = 1'000'000;
  const std::string open(kLong, '<');
  EXPECT_EQ(frame_label(open, 4), "<<<…");
  EXPECT_EQ(frame_label(open + std::string(kLong, ')'), 4), "<<<…");
  std::string parts;
  for (std::size_t i = 0; i < kLong; ++i) parts += "a::";
  EXPECT_EQ(frame_label(parts + "end", 20), "a::…::a::a::a::end");
}

}  // namespace
}  // namespace ringside::exporters
