#include "guestos/linux/tasks/linux_process_source.h"

#include <gtest/gtest.h>

#include <cstring>

#include "guestos/adapter.h"
#include "guestos/linux/linux_adapter.h"
#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"

namespace ringside::guestos {
namespace {

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uint64_t>(object); }

void link(list_head& head) { head.next = head.prev = &head; }

// The test's own memory, as that of each process, too.
class ProcessMemory final : public testing::OwnMemory {
 public:
  [[nodiscard]] Result<std::unique_ptr<GuestSpace>> process_space(GuestVirt root) override {
    last_root = root;
    return std::make_unique<testing::OwnSpace>();
  }
  GuestVirt last_root;
};

// A kernel with process 0, and process 1, which has a command line.
class LinuxProcessSourceTest : public ::testing::Test {
 protected:
  LinuxProcessSourceTest() {
    link(swapper_.tasks);
    link(signal_.thread_head);
    swapper_.group_leader = swapper_.real_parent = &swapper_;
    init_.tasks = {&swapper_.tasks, &swapper_.tasks};
    swapper_.tasks = {&init_.tasks, &init_.tasks};
    init_.thread_node = {&signal_.thread_head, &signal_.thread_head};
    signal_.thread_head = {&init_.thread_node, &init_.thread_node};
    init_.pid = init_.tgid = 1;
    init_.group_leader = &init_;
    init_.real_parent = &swapper_;
    init_.signal = &signal_;
    init_.real_cred = &cred_;
    init_.mm = &mm_;
    std::strcpy(init_.comm, "init");
    mm_.pgd = &mm_;
    mm_.arg_start = address_of(kArguments);
    mm_.arg_end = mm_.arg_start + sizeof kArguments;
    kernel_.file = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
    const auto first = kernel_.file->symbol_named("init_task");
    kernel_.load_bias = address_of(&swapper_) - first.value().address.value;
  }

  static constexpr char kArguments[] = "/sbin/init\0splash\0";
  task_struct swapper_{};
  task_struct init_{};
  signal_struct signal_{};
  mm_struct mm_{};
  cred cred_{};
  elf::Image kernel_;
  ProcessMemory memory_;
};

TEST_F(LinuxProcessSourceTest, ListsProcessesAndTheirCommandLines) {
  const auto source = LinuxAdapter(kernel_, {}).process_source();
  ASSERT_TRUE(source) << source.error().message;
  const auto list = (*source)->read({}, memory_);
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->threads.size(), 1u);
  EXPECT_EQ(list->threads[0].comm, "init");
  EXPECT_EQ(list->threads[0].task, GuestVirt{address_of(&init_)});
  EXPECT_FALSE(list->clock);
  EXPECT_FALSE(list->memory_bytes);
  EXPECT_EQ((*source)->arguments(list->threads[0], memory_).value(), "/sbin/init splash");
  EXPECT_EQ(memory_.last_root, GuestVirt{address_of(&mm_)});
  EXPECT_TRUE((*source)->user_names(*list, memory_).value().empty());  // no physical memory
}

TEST_F(LinuxProcessSourceTest, AThreadWithoutMemoryHasNoCommandLine) {
  init_.mm = nullptr;
  const auto source = LinuxAdapter(kernel_, {}).process_source();
  const auto list = (*source)->read({}, memory_);
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ((*source)->arguments(list->threads.at(0), memory_).value(), "");
}

TEST(ProcessSource, OfAnotherSystemIsNotKnown) {
  EXPECT_EQ(make_adapter({}, Arch::kX86_64)->process_source().error().message,
            "the processes of a guest are known if it is Linux; this one is: generic");
}

}  // namespace
}  // namespace ringside::guestos
