#include "app/settings/guest_system.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace ringside::app {
namespace {

// This program stands for one of the guest's.
std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

TEST(GuestSystem, AProcessHasARootANameAndAProgram) {
  GuestSystemSettings settings;
  settings.processes = {"7d3000=init:" + this_program(), "0x1000=a.out:" + this_program()};
  const auto options = settings.options();
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->processes.size(), 2u);
  EXPECT_EQ(options->processes[0].root, 0x7d3000u);
  EXPECT_EQ(options->processes[0].program->name, "init");
  EXPECT_EQ(options->processes[0].program->file->name(), this_program());
  EXPECT_EQ(options->processes[1].root, 0x1000u);
}

TEST(GuestSystem, WhatMakesNoSenseIsReported) {
  const auto wrong = [](const std::string& process) {
    GuestSystemSettings settings;
    settings.processes = {process};
    return settings.options().error().code;
  };
  for (const char* text :
       {"", "1000", "1000=init", "=init:x", "xyz=init:x", "1000 =init:x", "1000=:x"})
    EXPECT_EQ(wrong(text), ErrorCode::kUsage) << text;
  EXPECT_EQ(wrong("1000=init:/does/not/exist"), ErrorCode::kNotFound);
  GuestSystemSettings settings;
  settings.user_elf = this_program();
  EXPECT_TRUE(settings.options());
  settings.os = "linux";
  EXPECT_EQ(settings.options().error().code, ErrorCode::kUsage);
  settings.os = "auto";
  settings.programs = "/usr/bin";
  EXPECT_EQ(settings.options().error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace ringside::app
