// Reads of memory while the guest runs, through a fake stub.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/testing/time_limits.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/gdb/testing/fake_stub.h"

namespace ringside::engines::gdb {
namespace {

using testing::FakeStub;

constexpr std::uint64_t kVirtual = 0xffff888000000000;
constexpr std::size_t kPages = 128;
// A time-out that a test waits for; the fake stub has it for each answer, on a busy host too.
const std::chrono::milliseconds kShort = ringside::testing::scaled(std::chrono::milliseconds(400));
const std::chrono::milliseconds kLong = ringside::testing::scaled(std::chrono::milliseconds(2000));

// A machine with 16 MiB of RAM; page n is filled with n, and mapped at kVirtual.
FakeStub::Settings machine() {
  FakeStub::Settings settings;
  settings.monitor["info ramblock"] =
      "  Block Name    PSize              Offset               Used              Total\r\n"
      "      pc.ram    4 KiB  0x0000000000000000 0x0000000001000000 0x0000000001000000\r\n";
  settings.monitor["info mtree -f"] =
      "FlatView #1\r\n AS \"memory\", root: system\r\n Root memory region: system\r\n"
      "  0000000000000000-000000000009ffff (prio 0, ram): pc.ram\r\n"
      "  00000000000a0000-00000000000bffff (prio 1, i/o): vga-lowmem\r\n"
      "  00000000000c0000-0000000000ffffff (prio 0, ram): pc.ram @00000000000c0000\r\n";
  for (std::uint64_t i = 0; i < kPages; ++i) {
    const std::string page(4096, static_cast<char>(i));
    settings.pages[kVirtual + 4096 * i] = page;
    settings.physical_pages[0x100000 + 4096 * i] = page;
  }
  return settings;
}

struct Guest {
  explicit Guest(FakeStub::Settings settings = machine(), std::chrono::milliseconds timeout = kLong,
                 bool guardian = false)
      : stub(std::move(settings)) {
    Options options;
    options.patience.timeout = timeout;
    options.guardian = guardian;
    options.migration_watch.emplace([] { return std::vector<pid_t>{1}; },
                                    [] { return std::size_t{1}; });
    auto attached = GdbEngine::attach(stub.take_client(), options);
    EXPECT_TRUE(attached) << attached.error().message;
    if (attached) engine = std::move(*attached);
  }
  bool runs() {
    return ringside::testing::wait_until([this] { return stub.running(); });
  }
  FakeStub stub;
  std::unique_ptr<GdbEngine> engine;
};

bool holds_pages(const std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<std::byte>(i / 4096)) return false;
  return true;
}

TEST(SlicedReads, VirtualMemoryInBulk) {
  Guest guest;
  std::vector<std::byte> bytes(4096 * kPages);
  const auto got = guest.engine->virtual_memory(VcpuId{1}).read_up_to(GuestVirt{kVirtual}, bytes);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, bytes.size());
  EXPECT_TRUE(holds_pages(bytes));
  EXPECT_TRUE(guest.runs());
  EXPECT_THAT(guest.engine->explain_memory_access(), ::testing::HasSubstr("the gdb stub"));
  const MemoryPauses pauses = guest.engine->memory_pauses();
  EXPECT_GT(pauses.count, 1u);
  EXPECT_GE(pauses.total_ns, pauses.longest_ns);
  // Each stop chooses its vCPU, and the guest runs after each.
  const auto requests = guest.stub.requests();
  EXPECT_GE(std::count(requests.begin(), requests.end(), "c"),
            static_cast<std::ptrdiff_t>(pauses.count));
  EXPECT_FALSE(guest.engine->virtual_memory(VcpuId{9}).read_up_to(GuestVirt{kVirtual}, bytes));
}

// The most reads of memory in one stop of the guest.
std::ptrdiff_t most_in_a_stop(const std::vector<std::string>& requests) {
  std::ptrdiff_t most = 0, here = 0;
  for (const std::string& request : requests) {
    if (request == "c") here = 0;
    if (request.starts_with("m")) most = std::max(most, ++here);
  }
  return most;
}

// A stop has four times the time for a large read. How many answers fit into it is the host's.
TEST(SlicedReads, InBulkStopTheGuestForLongerAndLessOften) {
  auto settings = machine();
  settings.memory_delay = std::chrono::microseconds(50);
  const auto most = [&settings](std::size_t size) {
    Guest guest(settings);
    std::vector<std::byte> bytes(size);
    EXPECT_EQ(guest.engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{kVirtual}, bytes),
              bytes.size());
    return most_in_a_stop(guest.stub.requests());
  };
  EXPECT_TRUE(
      ringside::testing::wait_until([&most] { return most(64 * 1024) > most(28 * 1024) + 1; }));
}

TEST(SlicedReads, EndAtWhatIsNotMapped) {
  Guest guest;
  std::vector<std::byte> bytes(4096 * 4);
  const GuestVirt near_the_end{kVirtual + 4096 * (kPages - 1) + 10};
  EXPECT_EQ(guest.engine->virtual_memory(VcpuId{0}).read_up_to(near_the_end, bytes), 4086u);
  EXPECT_EQ(guest.engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0x10}, bytes), 0u);
  EXPECT_TRUE(guest.runs());
}

TEST(SlicedReads, AKernelThatUserCodeHidesIsTriedAgain) {
  auto settings = machine();
  settings.hides_kernel_for = 7;
  std::vector<std::byte> bytes(4096 * kPages);
  {
    Guest guest(settings);
    EXPECT_EQ(guest.engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{kVirtual}, bytes),
              bytes.size());
    EXPECT_TRUE(holds_pages(bytes));
    EXPECT_TRUE(guest.runs());
  }
  settings.hides_kernel_for = 1'000'000;
  Guest guest(settings);
  EXPECT_EQ(guest.engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0x10}, bytes), 0u);
  EXPECT_LT(guest.engine->memory_pauses().count, 5u);  // no address of the kernel's: at once
  EXPECT_EQ(guest.engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{kVirtual}, bytes), 0u);
  EXPECT_GT(guest.engine->memory_pauses().count, 20u);
  EXPECT_TRUE(guest.runs());
}

TEST(SlicedReads, PhysicalMemoryLeavesItsMode) {
  Guest guest;
  const auto physical = guest.engine->physical_memory();
  ASSERT_TRUE(physical) << physical.error().message;
  EXPECT_TRUE(guest.engine->memory_reads_stop_the_guest());
  guest.stub.forget_requests();
  std::vector<std::byte> bytes(4096 * kPages);
  const auto got = (*physical)->read_up_to(GuestPhys{0x100000}, bytes);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, bytes.size());
  EXPECT_TRUE(holds_pages(bytes));
  EXPECT_TRUE(guest.runs());
  EXPECT_FALSE(guest.stub.left_in_physical_mode());
  // Virtual reads are virtual again.
  EXPECT_EQ(guest.engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0x100000}, bytes), 0u);
  guest.engine.reset();
  EXPECT_TRUE(guest.runs());
  EXPECT_FALSE(guest.stub.left_in_physical_mode());
  const auto requests = guest.stub.requests();
  EXPECT_EQ(requests.back(), "D;1");
  EXPECT_EQ(requests[requests.size() - 2], "Qqemu.PhyMemMode:0");
}

TEST(SlicedReads, WhatIsNotRamIsNotAskedFor) {
  Guest guest;
  const auto physical = guest.engine->physical_memory();
  ASSERT_TRUE(physical);
  EXPECT_TRUE(guest.runs());  // the last request has come
  guest.stub.forget_requests();
  std::vector<std::byte> bytes(64);
  for (const std::uint64_t device : {0xa0000u, 0xfee00000u, 0x1000000u})
    EXPECT_EQ((*physical)->read_up_to(GuestPhys{device}, bytes), 0u);
  EXPECT_TRUE(guest.stub.requests().empty());
}

TEST(SlicedReads, AnUnknownMachineHasNoPhysicalMemory) {
  auto settings = machine();
  settings.monitor.erase("info mtree -f");
  Guest guest(settings);
  const auto physical = guest.engine->physical_memory();
  ASSERT_FALSE(physical);
  EXPECT_EQ(physical.error().code, ErrorCode::kUnsupported);
  settings.qemu = false;
  settings.running = false;
  settings.vcpus.resize(1);
  Guest plain(settings);
  ASSERT_TRUE(plain.engine);
  EXPECT_FALSE(plain.engine->physical_memory());
}

TEST(SlicedReads, AnErrorLeavesTheGuestRunningAndVirtual) {
  // Requests 0 to 3 after the first `c` are two stops and what the monitor is asked; then
  // PhyMemMode:1, reads, PhyMemMode:0.
  for (int at = 4; at < 12; ++at) {
    for (const bool corrupt : {true, false}) {
      auto settings = machine();
      (corrupt ? settings.corrupt_at : settings.ignore_at) = at;
      Guest guest(settings, kShort);
      const auto physical = guest.engine->physical_memory();
      ASSERT_TRUE(physical) << physical.error().message;
      std::vector<std::byte> bytes(4096 * 8);
      (void)(*physical)->read_up_to(GuestPhys{0x100000}, bytes);
      EXPECT_TRUE(guest.runs()) << at;
      guest.engine.reset();
      EXPECT_TRUE(guest.runs()) << at;
      EXPECT_FALSE(guest.stub.left_in_physical_mode()) << at << corrupt;
    }
  }
}

TEST(SlicedReads, TheGuardianLeavesPhysicalModeToo) {
  Guest guest(machine(), kLong, true);
  const auto physical = guest.engine->physical_memory();
  ASSERT_TRUE(physical);
  std::vector<std::byte> bytes(64);
  ASSERT_TRUE((*physical)->read(GuestPhys{0x100000}, bytes));
  guest.stub.hang(true);
  guest.engine.reset();  // its detach times out, and is left to the guardian
  guest.stub.hang(false);
  EXPECT_TRUE(guest.runs());
  ::usleep(20'000);
  EXPECT_TRUE(guest.stub.running());
  EXPECT_FALSE(guest.stub.left_in_physical_mode());
  EXPECT_EQ(guest.stub.requests().back(), "D;1");
}

}  // namespace
}  // namespace ringside::engines::gdb
