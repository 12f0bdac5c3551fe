#include "findings/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ringside::findings {
namespace {

using kernel_image::MatchResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A row of the table: facts that prove it, and facts that are as near as possible and do not.
template <class Facts>
struct Case {
  std::string_view name;
  void (*with)(Facts& facts);
  void (*without)(Facts& facts);
};

template <class Facts>
std::vector<std::string_view> proven(std::span<const Finding<Facts>> table, const Facts& facts) {
  std::vector<std::string_view> names;
  for (const Finding<Facts>& finding : table)
    if (finding.is_proven(facts)) names.push_back(finding.name);
  return names;
}

// Every row has a case, so that a sentence without one fails.
template <class Facts>
void check(std::span<const Finding<Facts>> table, std::span<const Case<Facts>> cases,
           const Facts& nothing) {
  EXPECT_THAT(proven(table, nothing), ElementsAre());
  std::vector<std::string_view> rows;
  for (const Finding<Facts>& finding : table) rows.push_back(finding.name);
  std::vector<std::string_view> tested;
  for (const Case<Facts>& one : cases) tested.push_back(one.name);
  EXPECT_THAT(tested, ::testing::ElementsAreArray(rows));
  for (const Case<Facts>& one : cases) {
    Facts facts = nothing;
    one.with(facts);
    EXPECT_THAT(proven(table, facts), ElementsAre(one.name));
    EXPECT_FALSE(sentences(table, facts).empty()) << one.name;
    for (const std::string& sentence : sentences(table, facts)) {
      EXPECT_NE(sentence, "") << one.name;
      EXPECT_THAT(sentence, Not(HasSubstr("{"))) << one.name;
    }
    one.without(facts);
    EXPECT_THAT(proven(table, facts), Not(::testing::Contains(one.name))) << one.name;
  }
}

std::uint64_t& samples(GuestFacts& guest, PrivilegeLevel level) {
  return guest.samples_by_level[static_cast<std::size_t>(level)];
}

// Kernel code ran, and this is how its file compared with memory.
void compare(GuestFacts& guest, MatchResult sameness, const char* evidence) {
  samples(guest, PrivilegeLevel::kKernel) = 100;
  guest.was_looked_for = true;
  guest.kernel_file = "kernel.elf";
  guest.identity = kernel_image::Identity{.sameness = sameness,
                                          .evidence = evidence,
                                          .in_file = "01",
                                          .in_memory = "02",
                                          .equal_share = 0.959};
}

void run_firmware(GuestFacts& guest) {
  guest.arch = Arch::kRiscv64;
  samples(guest, PrivilegeLevel::kFirmware) = 950;
  samples(guest, PrivilegeLevel::kUser) = 50;
}

void run_guest(GuestFacts& guest) {
  guest.arch = Arch::kX86_64;
  guest.kernel_was_found = true;
  samples(guest, PrivilegeLevel::kKernel) = 300;
  samples(guest, PrivilegeLevel::kGuest) = 100;
}

constexpr Case<GuestFacts> kGuestCases[] = {
    {"kernel-left",
     [](GuestFacts& guest) {
       guest.kernel_left_s = {3.2, 17};
     },
     [](GuestFacts& guest) { guest.kernel_left_s.clear(); }},
    {"symbols-not-needed",
     [](GuestFacts& guest) {
       samples(guest, PrivilegeLevel::kKernel) = 1;
       guest.was_looked_for = guest.has_symbols = guest.kernel_was_found = true;
     },
     [](GuestFacts& guest) { guest.has_symbols = false; }},
    {"symbols-in-vain",
     [](GuestFacts& guest) {
       samples(guest, PrivilegeLevel::kKernel) = 1;
       guest.was_looked_for = guest.has_symbols = true;
     },
     [](GuestFacts& guest) { guest.code_was_read = true; }},
    {"kernel-built-again",
     [](GuestFacts& guest) {
       compare(guest, MatchResult::kDifferent, kernel_image::kTextEvidence);
     },
     [](GuestFacts& guest) { guest.identity->sameness = MatchResult::kSame; }},
    {"another-kernel",
     [](GuestFacts& guest) { compare(guest, MatchResult::kDifferent, "build id"); },
     [](GuestFacts& guest) { guest.identity->sameness = MatchResult::kSame; }},
    {"kernel-not-there", [](GuestFacts& guest) { compare(guest, MatchResult::kNotThere, ""); },
     [](GuestFacts& guest) { samples(guest, PrivilegeLevel::kKernel) = 0; }},
    // From a serial line nothing is read: that nothing is mapped there is not known.
    {"kernel-not-mapped", [](GuestFacts& guest) { compare(guest, MatchResult::kUnreadable, ""); },
     [](GuestFacts& guest) { guest.was_looked_for = false; }},
    {"kernel-without-code", [](GuestFacts& guest) { compare(guest, MatchResult::kNoEvidence, ""); },
     [](GuestFacts& guest) { guest.identity.reset(); }},
    {"kernel-nowhere",
     [](GuestFacts& guest) {
       compare(guest, MatchResult::kNotThere, "");
       guest.identity.reset();
     },
     [](GuestFacts& guest) { guest.kernel_was_found = true; }},
    {"kernel-file-not-found",
     [](GuestFacts& guest) {
       samples(guest, PrivilegeLevel::kKernel) = 1;
       guest.was_looked_for = true;
     },
     [](GuestFacts& guest) { guest.kernel_was_found = true; }},
    {"trap-loop",
     [](GuestFacts& guest) { samples(guest, PrivilegeLevel::kKernel) = guest.trap_loops = 1; },
     [](GuestFacts& guest) { guest.trap_loops = 0; }},
    {"no-code-ran", [](GuestFacts& guest) { guest.no_code_ran = true; },
     [](GuestFacts& guest) { guest.no_code_ran = false; }},
    {"firmware-alone",
     [](GuestFacts& guest) {
       run_firmware(guest);
       guest.has_qemus_firmware = true;
     },
     [](GuestFacts& guest) { guest.has_qemus_firmware = false; }},
    {"firmware-or-kernel", run_firmware,
     [](GuestFacts& guest) {
       guest.kernel_was_found = true;
       samples(guest, PrivilegeLevel::kKernel) = 1;
     }},
    {"guest-of-hypervisor",
     [](GuestFacts& guest) {
       run_guest(guest);
       guest.kernel_is_guests = true;
     },
     [](GuestFacts& guest) { samples(guest, PrivilegeLevel::kGuest) = 0; }},
    {"hypervisor", run_guest, [](GuestFacts& guest) { guest.kernel_was_found = false; }},
};

TEST(Findings, EachOfTheGuestHasItsProof) {
  check<GuestFacts>(of_guest(), kGuestCases, GuestFacts());
}

constexpr Case<NameFacts> kNameCases[] = {
    {"given-unchecked",
     [](NameFacts& names) {
       names.given_kernel = "k";
       names.given_was_used = names.given_is_unchecked = true;
     },
     [](NameFacts& names) { names.given_is_unchecked = false; }},
    // The kernel of a whole boot is known; what ran before it is not of that file.
    {"given-elsewhere",
     [](NameFacts& names) {
       names.given_kernel = "k";
       names.given_was_used = names.given_lies_elsewhere = true;
     },
     [](NameFacts& names) { names.given_names_a_kernel = true; }},
    {"given-misfits", [](NameFacts& names) { names.misfits = {"no symbol of s is in k"}; },
     [](NameFacts& names) { names.misfits.clear(); }},
    {"given-unused", [](NameFacts& names) { names.given_kernel = "k"; },
     [](NameFacts& names) { names.is_filtered = true; }},
    {"kernel-nameless", [](NameFacts& names) { names.nameless_kernels = {"k"}; },
     [](NameFacts& names) { names.nameless_kernels.clear(); }},
    {"file-missing",
     [](NameFacts& names) {
       names.missing = {
           {"a", "gone", "", false}, {"b", "gone", "s", false}, {"c", "gone", "", true}};
     },
     [](NameFacts& names) { names.missing.clear(); }},
    {"file-unproven", [](NameFacts& names) { names.unproven_files = {"k"}; },
     [](NameFacts& names) { names.unproven_files.clear(); }},
    {"given-is-another",
     [](NameFacts& names) {
       names.given_kernel = "k";
       names.given_was_used = true;
       names.other_kernels = {{"k is not the file", "loader"}};
     },
     [](NameFacts& names) { names.given_names_a_kernel = true; }},
    {"given-is-not-what-ran",
     [](NameFacts& names) {
       names.given_kernel = "k";
       names.given_was_used = names.has_unnamed_code = true;
     },
     [](NameFacts& names) { names.given_names_a_kernel = true; }},
    {"kernel-file-unknown", [](NameFacts& names) { names.has_unnamed_code = true; },
     [](NameFacts& names) { names.has_named_kernel = true; }},
    {"images-nameless",
     [](NameFacts& names) {
       names.nameless_images = {"sh", "dd"};
     },
     [](NameFacts& names) { names.nameless_images.clear(); }},
    {"programs-without-file", [](NameFacts& names) { names.programs_without_file = 2; },
     [](NameFacts& names) { names.programs_without_file = 0; }},
};

TEST(Findings, EachOfNamesHasItsProof) { check<NameFacts>(of_names(), kNameCases, NameFacts()); }

template <bool kIsUser>
recording::PartStops& stops(StackFacts& stacks) {
  return kIsUser ? stacks.user : stacks.kernel;
}

// One stack in ten breaks off for that reason.
template <bool kIsUser>
void break_off(StackFacts& stacks, StopReason reason) {
  stops<kIsUser>(stacks).stops[static_cast<std::size_t>(StopReason::kEndOfStack)] += 90;
  stops<kIsUser>(stacks).stops[static_cast<std::size_t>(reason)] += 10;
  stacks.unwound += 100;
  stacks.depth_limit = 512;  // by ringside
}
template <bool kIsUser>
void break_off_in(StackFacts& stacks, BrokenPlace place) {
  break_off<kIsUser>(stacks, place.reason);
  place.is_user = kIsUser;
  place.function = "work";
  place.samples = 10;
  stacks.places.push_back(place);
}

BrokenPlace in_image(bool has_file, bool has_tables) {
  BrokenPlace place;
  place.image = "image";
  place.has_file = has_file;
  place.has_tables = has_tables;
  return place;
}

template <bool kIsUser>
void truncated(StackFacts& stacks) {
  break_off<kIsUser>(stacks, StopReason::kTruncated);
}
template <bool kIsUser>
void not_copied(StackFacts& stacks) {
  break_off<kIsUser>(stacks, StopReason::kNotCopied);
}
template <bool kIsUser>
void without_registers(StackFacts& stacks) {
  break_off<kIsUser>(stacks, StopReason::kNoRegisters);
}
template <bool kIsUser>
void without_frames(StackFacts& stacks) {
  break_off<kIsUser>(stacks, StopReason::kNoRule);
}
template <bool kIsUser>
void in_no_image(StackFacts& stacks) {
  break_off_in<kIsUser>(stacks, {});
}
template <bool kIsUser>
void beside_tables(StackFacts& stacks) {
  break_off_in<kIsUser>(stacks, in_image(true, true));
}
template <bool kIsUser>
void without_tables(StackFacts& stacks) {
  break_off_in<kIsUser>(stacks, in_image(true, false));
}
template <bool kIsUser>
void without_file(StackFacts& stacks) {
  break_off_in<kIsUser>(stacks, in_image(false, false));
}
template <bool kIsUser>
void torn(StackFacts& stacks) {
  without_tables<kIsUser>(stacks);
  stacks.is_torn = true;
}
template <bool kIsUser>
void as_recorded(StackFacts& stacks) {
  without_tables<kIsUser>(stacks);
  stacks.depth_limit.reset();
}
void by_ringside(StackFacts& stacks) { stacks.depth_limit = 512; }
void stopped(StackFacts& stacks) { stacks.is_torn = false; }
void nearly_all_complete(StackFacts& stacks) {
  for (recording::PartStops* part : {&stacks.kernel, &stacks.user})
    part->stops[static_cast<std::size_t>(StopReason::kEndOfStack)] += 100;
}
void filtered(StackFacts& stacks) { stacks.is_filtered = true; }
void of_unknown_processes(StackFacts& stacks) {
  stacks.user.stops[static_cast<std::size_t>(StopReason::kUser)] = 50;
  stacks.unwound = 100;
}
void nearly_all_known(StackFacts& stacks) { stacks.unwound = 1000; }

constexpr Case<StackFacts> kBrokenCases[] = {
    {"kernel-copied-in-part", truncated<false>, nearly_all_complete},
    {"kernel-not-copied", not_copied<false>, nearly_all_complete},
    {"kernel-as-recorded", as_recorded<false>, by_ringside},
    {"kernel-without-registers", without_registers<false>, filtered},
    {"kernel-without-frames", without_frames<false>, nearly_all_complete},
    {"kernel-torn", torn<false>, stopped},
    {"kernel-in-no-image", in_no_image<false>,
     [](StackFacts& stacks) { stacks.places[0].image = "kernel"; }},
    {"kernel-beside-tables", beside_tables<false>,
     [](StackFacts& stacks) { stacks.places[0].has_tables = false; }},
    // Without its file nothing shows how the kernel was built.
    {"kernel-without-tables", without_tables<false>,
     [](StackFacts& stacks) { stacks.places[0].has_file = false; }},
    {"kernel-without-file", without_file<false>,
     [](StackFacts& stacks) { stacks.places[0].has_file = true; }},
    {"user-copied-in-part", truncated<true>, filtered},
    {"user-not-copied", not_copied<true>, filtered},
    {"user-as-recorded", as_recorded<true>, by_ringside},
    {"user-without-registers", without_registers<true>, nearly_all_complete},
    {"user-without-frames", without_frames<true>, filtered},
    {"user-torn", torn<true>, stopped},
    {"user-in-no-image", in_no_image<true>,
     [](StackFacts& stacks) { stacks.places[0].image = "sh"; }},
    {"user-beside-tables", beside_tables<true>,
     [](StackFacts& stacks) { stacks.places[0].has_tables = false; }},
    {"user-without-tables", without_tables<true>,
     [](StackFacts& stacks) { stacks.places[0].has_file = false; }},
    {"user-without-file", without_file<true>,
     [](StackFacts& stacks) { stacks.places[0].has_file = true; }},
    {"linux-process-unknown",
     [](StackFacts& stacks) {
       of_unknown_processes(stacks);
       stacks.is_linux = true;
     },
     nearly_all_known},
    {"process-unknown", of_unknown_processes, nearly_all_known},
};

TEST(Findings, EachOfBrokenStacksHasItsProof) {
  check<StackFacts>(of_broken_stacks(), kBrokenCases, StackFacts());
}

constexpr Case<StackFacts> kCutCases[] = {
    {"deeper-than-ringside",
     [](StackFacts& stacks) {
       stacks.too_deep = 1;
       stacks.unwound = 10;
       stacks.depth_limit = 512;
     },
     [](StackFacts& stacks) { stacks.depth_limit.reset(); }},
    // The limit of who has recorded them is not known.
    {"deeper-than-recorded",
     [](StackFacts& stacks) {
       stacks.too_deep = 1;
       stacks.unwound = 10;
     },
     [](StackFacts& stacks) { stacks.too_deep = 0; }},
    {"left-out", [](StackFacts& stacks) { stacks.left_out = {"much is left out"}; },
     [](StackFacts& stacks) { stacks.left_out.clear(); }},
};

TEST(Findings, EachOfCutStacksHasItsProof) {
  check<StackFacts>(of_cut_stacks(), kCutCases, StackFacts());
}

TEST(Findings, NoTwoHaveOneName) {
  std::set<std::string_view> names;
  std::size_t rows = 0;
  const auto add = [&](const auto& table) {
    for (const auto& finding : table) names.insert(finding.name);
    rows += table.size();
  };
  add(of_guest());
  add(of_names());
  add(of_cut_stacks());
  add(of_broken_stacks());
  EXPECT_EQ(names.size(), rows);
}

TEST(Findings, WhatDiffersBetweenTwoKernelsIsSaid) {
  GuestFacts guest;
  compare(guest, MatchResult::kDifferent, "build id");
  EXPECT_THAT(sentences(of_guest(), guest),
              ElementsAre("kernel.elf is not the kernel that runs in the guest: its build id is "
                          "01, the guest's 02"));
  compare(guest, MatchResult::kDifferent, kernel_image::kTextEvidence);
  guest.identity->in_file = "8192 bytes of its code";
  EXPECT_THAT(sentences(of_guest(), guest),
              ElementsAre("kernel.elf is not the kernel that runs in the guest, or it was built "
                          "again: of 8192 bytes of its code, the guest has 95.9 % at the same "
                          "place; give the file of the build that runs"));
}

TEST(Findings, SharesAreSaidOfAllSamples) {
  GuestFacts guest;
  guest.arch = Arch::kRiscv64;
  samples(guest, PrivilegeLevel::kFirmware) = 500;
  EXPECT_THAT(sentences(of_guest(), guest),
              ElementsAre("all samples are in machine mode, outside of any known kernel, and "
                          "shown as [firmware]. If a kernel runs there, record with its ELF file: "
                          "--kernel FILE"));
  guest = GuestFacts();
  run_guest(guest);
  EXPECT_THAT(sentences(of_guest(), guest),
              ElementsAre("the kernel is a hypervisor: 25.0 % of the samples are its guest's (in "
                          "user mode at a kernel's addresses, as Xen's dom0), and shown as "
                          "[guest]. For its functions, instead of the hypervisor's, record "
                          "with the guest's kernel: --kernel FILE"));
  guest.kernel_is_guests = true;
  guest.kernel_file = "vmlinux";
  EXPECT_THAT(
      sentences(of_guest(), guest),
      ElementsAre("25.0 % of the samples are those of a hypervisor's guest (in user mode at "
                  "a kernel's addresses, as Xen's dom0), whose kernel is vmlinux: one "
                  "frame each. The hypervisor's own functions have no names"));
}

}  // namespace
}  // namespace ringside::findings
