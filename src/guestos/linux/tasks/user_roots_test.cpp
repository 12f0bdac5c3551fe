#include "guestos/linux/tasks/user_roots.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ringside::guestos
