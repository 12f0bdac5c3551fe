#include "symbols/demangle.h"

#include <gtest/gtest.h>

#include <array>

#include "symbols/asterinas_name.h"
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

// The names of the transcript in Asterinas' own test.
TEST(Demangle, AsterinasCleansUpWholeNames) {
  EXPECT_EQ(asterinas_name("aster_nix::sched::priority_scheduler::{impl#1}::local_mut_rq_with"),
            "aster_nix::sched::priority_scheduler::local_mut_rq_with");
  EXPECT_EQ(asterinas_name("alloc::boxed::{impl#50}::call<(), (dyn core::ops::function::Fn<(), "
                           "Output=()> + core::marker::Send), alloc::alloc::Global>"),
            "alloc::boxed::call");
  EXPECT_EQ(asterinas_name("ostd::task::scheduler::yield_now::{closure#0}"),
            "ostd::task::scheduler::yield_now");
  EXPECT_EQ(asterinas_name("ostd::task::{impl#2}::build::kernel_task_entry"),
            "ostd::task::build::kernel_task_entry");
  EXPECT_EQ(asterinas_name("<kernel::Task as Drop>::drop"), "kernel::Task::drop");
  EXPECT_EQ(asterinas_name("foo::bar(int, char const*)"), "foo::bar");
  EXPECT_EQ(asterinas_name("(anonymous namespace)::put(char)"), "put");
  EXPECT_EQ(asterinas_name("plain_c_name"), "plain_c_name");
  EXPECT_EQ(demangle("_ZN3foo3barEiPKc", DemangleStyle::kAsterinas), "foo::bar");
  // int add<int>(int, int), whose first word is its return type
  EXPECT_EQ(demangle("_Z3addIiET_S0_S0_", DemangleStyle::kAsterinas), "add");
  EXPECT_EQ(demangle("_ZN2ns3putIcEEvT_", DemangleStyle::kAsterinas), "ns::put");
}

TEST(Demangle, RustV0) {
  EXPECT_EQ(full("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(brief("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of");
  EXPECT_EQ(full("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of::<f64>");
}

// rustc-demangle's own tests (src/legacy.rs, src/v0.rs) have these names and their full and verbose
// forms.
TEST(Demangle, RustAsRustcDemangleDoes) {
  struct Case {
    const char* raw;
    const char* verbose;
    const char* full;
    const char* brief;
  };
  const Case cases[] = {
      {"_ZN3foo17h05af221e174051e9E", "foo::h05af221e174051e9", "foo", "foo"},
      {"_ZN8$RF$testE", "&test", "&test", "&test"},
      {"_ZN8$BP$test4foobE", "*test::foob", "*test::foob", "*test::foob"},
      {"_ZN35Bar$LT$$u5b$u32$u3b$$u20$4$u5d$$GT$E", "Bar<[u32; 4]>", "Bar<[u32; 4]>", "Bar"},
      {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3barE",
       "<Test + 'static as foo::Bar<Test>>::bar", "<Test + 'static as foo::Bar<Test>>::bar",
       "Test + 'static::bar"},
      {"_RNvC6_123foo3bar", "123foo[0]::bar", "123foo::bar", "123foo::bar"},
      {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
       "utf8_idents[317d481089b8c8fe]::საჭმელად_გემრიელი_სადილი",
       "utf8_idents::საჭმელად_გემრიელი_სადილი", "utf8_idents::საჭმელად_გემრიელი_სადილი"},
      {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_",
       "cc[4d6468d6c9fd4bb3]::spawn::{closure#0}::{closure#0}",
       "cc::spawn::{closure#0}::{closure#0}", "cc::spawn::{closure#0}::{closure#0}"},
      {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9"
       "rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
       "<core[846817f741e54dfd]::slice::Iter<u8> as "
       "core[846817f741e54dfd]::iter::iterator::Iterator>::rposition::<"
       "core[846817f741e54dfd]::slice::memchr::memrchr::{closure#1}>::{closure#0}",
       "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<"
       "core::slice::memchr::memrchr::{closure#1}>::{closure#0}",
       "core::slice::Iter::rposition::{closure#0}"},
  };
  for (const Case& name : cases) {
    EXPECT_EQ(demangle(name.raw, DemangleStyle::kVerbose), name.verbose);
    EXPECT_EQ(full(name.raw), name.full);
    EXPECT_EQ(brief(name.raw), name.brief);
  }
}

// Full forms as c++filt of binutils 2.40 prints them.
TEST(Demangle, CxxOperatorsAndSpecialNames) {
  const std::array<std::array<const char*, 3>, 9> cases = {{
      {"_ZNKSt10unique_ptrI3FooSt14default_deleteIS0_EEcvbEv",
       "std::unique_ptr<Foo, std::default_delete<Foo> >::operator bool() const",
       "std::unique_ptr::operator bool"},
      {"_ZN3FoocvPKcEv", "Foo::operator char const*()", "Foo::operator char const*"},
      {"_ZN1AIiEclEv", "A<int>::operator()()", "A::operator()"},
      {"_ZN1AixEi", "A::operator[](int)", "A::operator[]"},
      {"_ZplRK1AS1_", "operator+(A const&, A const&)", "operator+"},
      {"_ZN1AD1Ev", "A::~A()", "A::~A"},
      {"_ZNSt8functionIFvvEEC1IZ4mainEUlvE_vEET_",
       "std::function<void ()>::function<main::{lambda()#1}, void>(main::{lambda()#1})",
       "std::function::function"},
      {"_Z1fIXgtLi2ELi1EEEvv", "void f<((2)>(1))>()", "f"},
      {"_ZN1fB5cxx11Ev", "f[abi:cxx11]()", "f[abi:cxx11]"},
  }};
  for (const auto& [raw, in_full, in_brief] : cases) {
    EXPECT_EQ(full(raw), in_full);
    EXPECT_EQ(brief(raw), in_brief);
  }
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
