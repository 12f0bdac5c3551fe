#include "guestos/linux/tasks/processes.h"

#include <gtest/gtest.h>

#include <cstring>

#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"
#include "memory/testing/fake_physical_memory.h"
#include "wire/guest_capture.h"

namespace ringside::guestos {
namespace {

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uint64_t>(object); }

// The test's own memory as the kernel's, each page at the physical address that is its virtual one.
class MappedMemory final : public testing::OwnMemory {
 public:
  GuestSpace& kernel() override { return space_; }
  PhysicalMemory* physical() override { return &physical_; }

 private:
  class Space final : public testing::OwnSpace {
   public:
    Result<std::optional<GuestPhys>> physical_address(GuestVirt address) override {
      return GuestPhys{address.value};
    }
  };
  Space space_;
  memory::testing::FakePhysicalMemory physical_{0};
};

// A kernel with process 0, and process 7 with page tables of its own. The guest has noted samples
// and copied nothing.
class NotedByTheGuest : public ::testing::Test {
 protected:
  NotedByTheGuest() {
    swapper_.group_leader = swapper_.real_parent = &swapper_;
    shell_.tasks = {&swapper_.tasks, &swapper_.tasks};
    swapper_.tasks = {&shell_.tasks, &shell_.tasks};
    shell_.thread_node = {&signal_.thread_head, &signal_.thread_head};
    signal_.thread_head = {&shell_.thread_node, &shell_.thread_node};
    shell_.pid = shell_.tgid = 7;
    shell_.group_leader = &shell_;
    shell_.real_parent = &swapper_;
    shell_.signal = &signal_;
    shell_.real_cred = &cred_;
    shell_.mm = &mm_;
    std::strcpy(shell_.comm, "sh");
    mm_.pgd = root_.data();
    mm_.start_code = 0x400000;
    kernel_.file = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
    const auto first = kernel_.file->symbol_named("init_task");
    kernel_.load_bias = address_of(&swapper_) - first.value().address.value;
    processes_.emplace(LinuxProcesses::of(kernel_, {}).value());
  }

  TaskAttribution attribution(const wire::GuestSample& sample, std::uint32_t pid = 7,
                              std::uint32_t tid = 0) {
    wire::Capture capture;
    wire::capture_of(sample, VcpuId{0}, Arch::kX86_64, capture);
    capture.registers.set(arch::x86_64::kCr3, address_of(root_.data()));
    wire::GuestTask task;
    task.address_space = address_of(root_.data());
    task.pid = pid;
    task.tid = tid == 0 ? pid : tid;
    wire::add_task(task, capture);
    ProcessUpdates updates;
    return processes_->attribute(capture, memory_, updates).value();
  }

  static constexpr std::array<std::uint64_t, 1> kKernelCode = {0xffffffff81000000};
  static constexpr std::array<std::uint64_t, 1> kUserCode = {0x401000};
  wire::GuestSample sample_;
  alignas(4096) std::array<char, 4096> root_{};
  task_struct swapper_{};
  task_struct shell_{};
  signal_struct signal_{};
  cred cred_{};
  mm_struct mm_{};
  elf::Image kernel_;
  std::optional<LinuxProcesses> processes_;
  MappedMemory memory_;
};

TEST_F(NotedByTheGuest, UserCodeIsOfTheProcessWithThosePageTables) {
  sample_.user.addresses = kUserCode;
  EXPECT_EQ(attribution(sample_).pid, 7u);
}

TEST_F(NotedByTheGuest, SoIsTheKernelsWorkForUserCode) {
  sample_.kernel.addresses = kKernelCode;
  sample_.user.addresses = kUserCode;
  EXPECT_EQ(attribution(sample_).pid, 7u);
}

// A kernel thread runs with the page tables of any process.
TEST_F(NotedByTheGuest, AKernelThreadIsNotThatProcess) {
  sample_.kernel.addresses = kKernelCode;
  EXPECT_EQ(attribution(sample_).pid, std::nullopt);
}

// The process has ended since, and another one has its page tables.
TEST_F(NotedByTheGuest, AnotherProcessIsNotTakenForTheOneThatRan) {
  sample_.user.addresses = kUserCode;
  EXPECT_EQ(attribution(sample_, 6).pid, std::nullopt);
}

// Page tables are used again while what the process before was still stands in memory.
TEST_F(NotedByTheGuest, TheNextProcessWithThosePageTablesIsFound) {
  sample_.user.addresses = kUserCode;
  ASSERT_EQ(attribution(sample_).pid, 7u);
  task_struct next = shell_;
  next.pid = next.tgid = 8;
  next.group_leader = &next;
  next.thread_node = {&signal_.thread_head, &signal_.thread_head};
  signal_.thread_head = {&next.thread_node, &next.thread_node};
  swapper_.tasks = {&next.tasks, &next.tasks};
  next.tasks = {&swapper_.tasks, &swapper_.tasks};
  EXPECT_EQ(attribution(sample_, 8).pid, 8u);
}

// A child of vfork() has its parent's page tables.
TEST_F(NotedByTheGuest, OfTwoProcessesWithThosePageTablesItIsTheOneThatWasNoted) {
  sample_.user.addresses = kUserCode;
  signal_struct signal{};
  task_struct child = shell_;
  child.pid = child.tgid = 8;
  child.group_leader = &child;
  child.signal = &signal;
  child.thread_node = {&signal.thread_head, &signal.thread_head};
  signal.thread_head = {&child.thread_node, &child.thread_node};
  shell_.tasks = {&child.tasks, &swapper_.tasks};
  child.tasks = {&swapper_.tasks, &shell_.tasks};
  swapper_.tasks = {&shell_.tasks, &child.tasks};
  EXPECT_EQ(attribution(sample_, 8).pid, 8u);
  EXPECT_EQ(attribution(sample_, 7).pid, 7u);
}

TEST_F(NotedByTheGuest, OfSeveralThreadsItIsTheOneThatWasNoted) {
  sample_.user.addresses = kUserCode;
  task_struct thread = shell_;
  thread.pid = 9;
  shell_.thread_node = {&thread.thread_node, &signal_.thread_head};
  thread.thread_node = {&signal_.thread_head, &shell_.thread_node};
  signal_.thread_head = {&shell_.thread_node, &thread.thread_node};
  for (const std::uint32_t tid : {7u, 9u}) EXPECT_EQ(attribution(sample_, 7, tid).tid, tid);
  const TaskAttribution unseen = attribution(sample_, 7, 10);
  EXPECT_EQ(unseen.pid, 7u);
  EXPECT_EQ(unseen.tid, std::nullopt);
}

// Its last samples are read when it is gone.
TEST_F(NotedByTheGuest, AProcessThatHasEndedHasTheCodeThatItHad) {
  sample_.user.addresses = kUserCode;
  const std::uint64_t space = attribution(sample_).address_space;
  EXPECT_NE(space, 0u);
  swapper_.tasks = {&swapper_.tasks, &swapper_.tasks};
  shell_ = {};
  EXPECT_EQ(attribution(sample_).address_space, space);
  EXPECT_EQ(attribution(sample_, 6).address_space, 0u);
}

}  // namespace
}  // namespace ringside::guestos
