#include "symbols/demangle.h"

#include <gtest/gtest.h>

#include "symbols/shorten.h"

namespace ringside::symbols {
namespace {

std::string full(std::string_view raw) { return demangle(raw, DemangleStyle::kFull); }
std::string brief(std::string_view raw) { return demangle(raw, DemangleStyle::kShort); }

TEST(Demangle, Cxx) {
  EXPECT_EQ(full("_ZN3foo3barEiPKc"), "foo::bar(int, char const*)");
  EXPECT_EQ(brief("_ZN3foo3barEiPKc"), "foo::bar");
  EXPECT_EQ(full("_Z3addIiET_S0_S0_"), "int add<int>(int, int)");
  EXPECT_EQ(brief("_Z3addIiET_S0_S0_"), "add");
  EXPECT_EQ(brief("_ZNSt6vectorIiSaIiEE9push_backEOi"), "std::vector::push_back");
  EXPECT_EQ(brief("_ZlsRSoRK3Foo"), "operator<<");
  EXPECT_EQ(brief("_ZZ4mainENKUliE_clEi"), "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(brief("_ZN12_GLOBAL__N_13runEv"), "(anonymous namespace)::run");
}

TEST(Demangle, RustLegacyLosesItsHash) {
  EXPECT_EQ(full("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
  EXPECT_EQ(full("_ZN4core3fmt5write17h0123456789abcdefE.llvm.1234"),
            "core::fmt::write [clone .llvm.1234]");
  EXPECT_EQ(brief("_ZN60_$LT$kernel..task..Task$u20$as$u20$core..ops..drop..Drop$GT$4drop17h"
                  "0123456789abcdefE"),
            "kernel::task::Task::drop");
}

TEST(Demangle, RustV0) {
  EXPECT_EQ(full("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(brief("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of");
  EXPECT_EQ(full("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of::<f64>");
}

TEST(Demangle, SuffixesStay) {
  EXPECT_EQ(full("_ZN3foo3barEv.cold"), "foo::bar() [clone .cold]");
  EXPECT_EQ(brief("_ZN3foo3barEv.isra.0"), "foo::bar.isra.0");
  EXPECT_EQ(full("vfs_read.isra.0"), "vfs_read.isra.0");
}

TEST(Demangle, WhatIsNotMangledStays) {
  for (const char* raw : {"vfs_read", "", "_", "_Z", "_R", "_ZN", "_ZN999999foo", "_RNvC", "_ZZZZ"})
    EXPECT_EQ(full(raw), raw);
  EXPECT_EQ(demangle("_ZN3foo3barEv", DemangleStyle::kNone), "_ZN3foo3barEv");
  const std::string deep = "_Z1f" + std::string(8000, 'P') + "i";
  EXPECT_FALSE(full(deep).empty());
  EXPECT_EQ(full("_Z" + std::string(100'000, 'N')).size(), 100'002u);
}

TEST(Shorten, PathsOnly) {
  EXPECT_EQ(shorten("foo<int>::bar<char>"), "foo::bar");
  EXPECT_EQ(shorten("<kernel::Task as core::ops::Drop>::drop"), "kernel::Task::drop");
  EXPECT_EQ(shorten("core::num::<impl core::fmt::Display for u8>::fmt"), "core::num::u8::fmt");
  EXPECT_EQ(shorten("alloc::vec::Vec<T>::push::<u8>"), "alloc::vec::Vec::push");
  EXPECT_EQ(shorten("<<A as B<C>>::D as E>::f"), "A::D::f");
  EXPECT_EQ(shorten("run::<fn(u8) -> u8>::{closure#0}"), "run::{closure#0}");
  EXPECT_EQ(shorten("Ptr<int>::operator->"), "Ptr::operator->");
  EXPECT_EQ(shorten("operator<=><int>"), "operator<=>");
  EXPECT_EQ(shorten("a<<<<"), "a");
  EXPECT_EQ(shorten("<"), "<");
}

}  // namespace
}  // namespace ringside::symbols
