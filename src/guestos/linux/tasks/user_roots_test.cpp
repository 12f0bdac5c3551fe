#include "guestos/linux/tasks/user_roots.h"

#include <gtest/gtest.h>

#include <array>

#include "base/clock.h"
#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"
#include "wire/guest_capture.h"

namespace ringside::guestos {
namespace {

// A kernel of which nothing can be read; or its addresses cannot even be translated.
class Unreadable final : public GuestSpace {
 public:
  Result<std::size_t> read_up_to(GuestVirt, std::span<std::byte>) override {
    ++reads;
    return std::size_t{0};
  }
  Result<std::optional<GuestPhys>> physical_address(GuestVirt address) override {
    return translates ? std::optional(GuestPhys{address.value & 0xffffffff}) : std::nullopt;
  }

  bool translates = false;
  std::size_t reads = 0;
};

// The processes are read for a root the 1st, 2nd, 4th, 8th … time that it belongs to nobody.
TEST(UserRoots, WhatCannotBeTranslatedYetIsNotCountedAsNobodys) {
  const std::shared_ptr<const elf::ElfFile> file = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  const auto source = open_types(file).value();
  UserRoots roots(LinuxTypes::of(*file, *source).value(),
                  ProcessFields::of(*file, *source).value());
  roots.remember({0xffff888000100000});
  wire::Capture user;
  user.arch = Arch::kX86_64;
  user.level = PrivilegeLevel::kUser;
  user.registers.set(arch::x86_64::kCr3, 0x1000);
  Unreadable memory;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(roots.find(user, true, {}, memory).value(), std::nullopt);
  EXPECT_EQ(memory.reads, 0u);
  memory.translates = true;
  for (const bool is_due : {true, true, false, true}) {
    memory.reads = 0;
    EXPECT_EQ(roots.find(user, true, {}, memory).value(), std::nullopt);
    EXPECT_EQ(memory.reads != 0, is_due);
  }
}

// Page tables that belonged to a process which has ended may be another one's by now.
TEST(UserRoots, TheProcessesAreReadForEachProcessThatTheGuestHasNoted) {
  const std::shared_ptr<const elf::ElfFile> file = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  const auto source = open_types(file).value();
  UserRoots roots(LinuxTypes::of(*file, *source).value(),
                  ProcessFields::of(*file, *source).value());
  roots.remember({0xffff888000100000});
  Unreadable memory;
  memory.translates = true;
  for (const auto& [pid, is_due] : {std::pair(7u, true), {7u, true}, {7u, false}, {8u, true}}) {
    wire::Capture user;
    user.arch = Arch::kX86_64;
    user.level = PrivilegeLevel::kUser;
    user.registers.set(arch::x86_64::kCr3, 0x1000);
    wire::GuestTask task;
    task.pid = pid;
    wire::add_task(task, user);
    memory.reads = 0;
    EXPECT_EQ(roots.find(user, true, {}, memory).value(), std::nullopt);
    EXPECT_EQ(memory.reads != 0, is_due) << pid;
  }
}

// The test's own memory as the kernel's, each page at the physical address that is its virtual one.
class OwnMappedSpace final : public testing::OwnSpace {
 public:
  Result<std::optional<GuestPhys>> physical_address(GuestVirt address) override {
    return GuestPhys{address.value};
  }
};

// The guest's clock has reached 30 s when its processes are read: one began at 10 s, and has run
// for 20 s.
TEST(UserRoots, AThreadHasBegunBeforeATimeIfTheGuestsClockHadPassedItsStartSurely) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto place = [](const auto& object) { return reinterpret_cast<std::uint64_t>(&object); };
  alignas(4096) std::array<char, 4096> root{};
  task_struct swapper{};
  task_struct shell{};
  signal_struct signal{};
  cred user{};
  mm_struct mm{};
  swapper.group_leader = swapper.real_parent = shell.real_parent = &swapper;
  shell.tasks = {&swapper.tasks, &swapper.tasks};
  swapper.tasks = {&shell.tasks, &shell.tasks};
  shell.thread_node = {&signal.thread_head, &signal.thread_head};
  signal.thread_head = {&shell.thread_node, &shell.thread_node};
  shell.pid = shell.tgid = 7;
  shell.group_leader = &shell;
  shell.signal = &signal;
  shell.real_cred = &user;
  shell.mm = &mm;
  shell.start_boottime = 10 * kSecond;
  shell.se.sum_exec_runtime = 20 * kSecond;
  mm.pgd = root.data();
  const std::shared_ptr<const elf::ElfFile> file = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  const auto source = open_types(file).value();
  UserRoots roots(LinuxTypes::of(*file, *source).value(),
                  ProcessFields::of(*file, *source).value());
  roots.remember({place(swapper)});
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.level = PrivilegeLevel::kUser;
  capture.registers.set(arch::x86_64::kCr3, place(root));
  OwnMappedSpace memory;
  const GuestVirt task{place(shell)};
  EXPECT_FALSE(roots.began_before(task, monotonic_ns(), memory).value());  // nothing was read yet
  ASSERT_TRUE(roots.find(capture, true, {}, memory).value());
  const std::uint64_t now = monotonic_ns();
  EXPECT_TRUE(roots.began_before(task, now + kSecond, memory).value());
  EXPECT_TRUE(roots.began_before(task, now - 15 * kSecond, memory).value());
  EXPECT_FALSE(roots.began_before(task, now - 25 * kSecond, memory).value());
  EXPECT_FALSE(roots.began_before(task, 0, memory).value());
  shell.start_boottime = 20 * kSecond;  // another one has its struct now
  EXPECT_FALSE(roots.began_before(task, now - 15 * kSecond, memory).value());
}

TEST(TaskView, TheFirstStackEndsWhereExecveHasPutIt) {
  TaskView task;
  task.space = {1, 1, 1, 0x400000, 0x7ffe12345000};
  EXPECT_TRUE(task.has_on_first_stack({0x7ffe12345000}));
  EXPECT_TRUE(task.has_on_first_stack({0x7ffe12344010}));
  EXPECT_FALSE(task.has_on_first_stack({0x7ffe12345008}));
  EXPECT_FALSE(task.has_on_first_stack({0x7ffe11000000}));
}

}  // namespace
}  // namespace ringside::guestos
