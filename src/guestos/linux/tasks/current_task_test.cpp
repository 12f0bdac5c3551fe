#include "guestos/linux/tasks/current_task.h"

#include <gtest/gtest.h>

#include <array>

#include "base/testing/function_memory.h"
#include "guestos/linux/tasks/return_hooks.h"
#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"
#include "wire/recipe.h"

namespace ringside::guestos {
namespace {

using namespace arch::x86_64;

// Tasks in the test's own memory, laid out by the compiler that wrote their BTF; a recipe that runs
// over it, and what is read from the copies.
class CurrentTaskTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kUserStack = 0x1000;  // bytes

  CurrentTaskTest() : stack_(0x4000 + kUserStack), user_stack_(kUserStack, std::byte{0x5a}) {
    task_.pid = 12;
    task_.tgid = 10;
    std::strcpy(task_.comm, "dash");
    task_.mm = &mm_;
    task_.stack = stack_.data();
    mm_.pgd = &mm_;
    mm_.exec_vm = 7;
    mm_.start_code = 0x401000;
    mm_.start_stack = 0x7ff0000;
    saved_ = reinterpret_cast<pt_regs*>(stack_.data() + 0x4000) - 1;
    saved_->ip = 0x401234;
    saved_->cs = 0x33;
    saved_->bx = 0xb;
    saved_->sp = reinterpret_cast<unsigned long>(user_stack_.data());
    EXPECT_TRUE(current_ && current_->find(0, PerCpu(kernel_), memory_).value());
  }

  // __per_cpu_offset leads from the variable's linked address to the test's `current`.
  ringside::testing::FunctionMemory memory_{
      [this](GuestVirt at, std::span<std::byte> into) -> Result<std::size_t> {
        if (at.value >= 0x10000) return testing::OwnSpace().read_up_to(at, into);
        const std::uint64_t area = reinterpret_cast<std::uint64_t>(&pointer_) - variable_;
        std::memcpy(into.data(), &area, sizeof(area));
        return sizeof(area);
      }};
  [[nodiscard]] wire::Capture capture(PrivilegeLevel level, std::uint64_t sp) {
    return capture(*current_, level, sp);
  }
  [[nodiscard]] wire::Capture capture(const CurrentTask& current, PrivilegeLevel level,
                                      std::uint64_t sp) {
    wire::Capture taken;
    taken.arch = Arch::kX86_64;
    taken.level = level;
    taken.registers.set(kCs, level == PrivilegeLevel::kUser ? 0x33 : 0x10);
    taken.registers.set(kRsp, sp);
    wire::RecipeBuilder builder;
    current.copy(builder, VcpuId{0}, copies_hooked_returns_);
    const auto recipe = builder.take();
    wire::RecipeBudget budget;
    wire::RecipeRun run(recipe, taken.registers, budget);
    while (const auto request = run.next()) {
      std::vector<std::byte> bytes(request->size);
      const std::size_t got =
          is_mapped_ ? testing::OwnSpace().read_up_to(request->read_at, bytes).value() : 0;
      if (request->is_load()) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data(), bytes.size());
        run.loaded(got == bytes.size() ? std::optional(value) : std::nullopt);
        continue;
      }
      const std::size_t start = taken.bytes.size();
      taken.bytes.insert(taken.bytes.end(), bytes.begin(),
                         bytes.begin() + static_cast<std::ptrdiff_t>(got));
      wire::finish_piece(taken, *request, start);
    }
    return taken;
  }
  [[nodiscard]] static std::size_t user_bytes(const wire::Capture& capture) {
    std::size_t bytes = 0;
    for (const wire::MemoryPiece& piece : capture.pieces)
      if (piece.why == wire::PieceKind::kUserStack) bytes += piece.size;
    return bytes;
  }

  static constexpr std::uint64_t kKernelSp = 0xffff888000001000;

  std::shared_ptr<const elf::ElfFile> file_ = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  elf::Image kernel_{1, "kernel", file_, 0, false};
  std::unique_ptr<TypeSource> source_ = open_types(file_).value();
  Result<CurrentTask> current_ = CurrentTask::of(kernel_, *source_);
  std::uint64_t variable_ = file_->symbol_named("current_task").value().address.value;
  mm_struct mm_{};
  task_struct task_{};
  task_struct* pointer_ = &task_;
  std::vector<std::byte> stack_;
  std::vector<std::byte> user_stack_;
  pt_regs* saved_ = nullptr;
  bool is_mapped_ = true;
  bool copies_hooked_returns_ = false;
};

TEST_F(CurrentTaskTest, OfASystemCall) {
  const wire::Capture taken = capture(PrivilegeLevel::kKernel, kKernelSp);
  const auto view = current_->read(taken);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->task.value, reinterpret_cast<std::uint64_t>(&task_));
  EXPECT_EQ(view->tid, 12u);
  EXPECT_EQ(view->pid, 10u);
  EXPECT_EQ(view->comm, "dash");
  const std::uint64_t mm = reinterpret_cast<std::uint64_t>(&mm_);
  EXPECT_EQ(view->space, (std::array<std::uint64_t, 5>{mm, mm, 7, 0x401000, 0x7ff0000}));
  ASSERT_TRUE(view->user);
  EXPECT_EQ(view->user->get(kRip), 0x401234u);
  EXPECT_EQ(view->user->get(kRbx), 0xbu);
  EXPECT_EQ(user_bytes(taken), 2048u);
}

// The records of all three tracers, the newest first, as the unwinder reads them.
TEST_F(CurrentTaskTest, CopiesReturnAddressesThatTracersHavePutAway) {
  std::array<ftrace_ret_stack, 50> graph{};
  unsigned long slot = 0;
  graph[0] = {.calltime = 1, .ret = 100, .func = 101, .fp = 0, .retp = &slot};
  graph[1] = {.calltime = 2, .ret = 200, .func = 201, .fp = 202, .retp = nullptr};
  task_.ret_stack = graph.data();
  task_.curr_ret_stack = 1;
  std::array<rethook_node, 2> rethooks{};
  rethooks[0].ret_addr = 300;
  rethooks[0].frame = 301;
  rethooks[0].llist.next = &rethooks[1].llist;
  rethooks[1].ret_addr = 400;
  task_.rethooks.first = &rethooks[0].llist;
  kretprobe_instance probe{.fp = &slot, .llist = {nullptr}, .ret_addr = &graph};
  task_.kretprobe_instances.first = &probe.llist;

  const auto address = [](const void* at) { return reinterpret_cast<std::uint64_t>(at); };
  const auto hooks = linux_return_hooks(kernel_, &current_->types());
  ASSERT_EQ(hooks.size(), 3u);
  EXPECT_FALSE(unwind::hooked_returns(hooks[0], capture(PrivilegeLevel::kKernel, kKernelSp)));
  copies_hooked_returns_ = true;
  const wire::Capture taken = capture(PrivilegeLevel::kKernel, kKernelSp);
  auto by_graph = unwind::hooked_returns(hooks[0], taken).value();
  ASSERT_EQ(by_graph.size(), 3u);
  EXPECT_TRUE(by_graph[0].is_removed);
  by_graph.erase(by_graph.begin());
  EXPECT_EQ(by_graph[0].address.value, 200u);
  EXPECT_EQ(by_graph[0].function, GuestVirt{201});
  EXPECT_EQ(by_graph[0].frames, std::vector<std::uint64_t>{202});
  EXPECT_EQ(by_graph[1].frames, std::vector<std::uint64_t>{address(&slot)});
  const auto by_rethook = unwind::hooked_returns(hooks[1], taken).value();
  ASSERT_EQ(by_rethook.size(), 2u);
  EXPECT_EQ(by_rethook[0].address.value, 300u);
  EXPECT_EQ(by_rethook[0].frames, std::vector<std::uint64_t>{301});
  EXPECT_EQ(by_rethook[1].address.value, 400u);
  EXPECT_TRUE(by_rethook[1].frames.empty());
  const auto by_probe = unwind::hooked_returns(hooks[2], taken).value();
  ASSERT_EQ(by_probe.size(), 1u);
  EXPECT_EQ(by_probe[0].address.value, address(&graph));
  EXPECT_EQ(by_probe[0].frames, std::vector<std::uint64_t>{address(&slot)});
  EXPECT_FALSE(unwind::hooked_returns(hooks[0], capture(PrivilegeLevel::kUser, kKernelSp)));
}

TEST_F(CurrentTaskTest, ATaskThatNobodyTracesHasNoRecords) {
  task_.curr_ret_stack = -1;
  copies_hooked_returns_ = true;
  const wire::Capture taken = capture(PrivilegeLevel::kKernel, kKernelSp);
  for (const auto& hook : linux_return_hooks(kernel_, &current_->types())) {
    const auto found = unwind::hooked_returns(hook, taken);
    ASSERT_TRUE(found);
    for (const auto& record : *found) EXPECT_TRUE(record.is_removed);
  }
}

// Tables of 4 KiB in the test's own memory, whose addresses are their physical ones too.
struct OwnTables {
  static constexpr std::uint64_t kAddress = 0x1234'5678'9000;  // entries 0x24, 0xd1, 0xb3, 0x189
  static constexpr std::uint64_t kPresent = 1;
  alignas(4096) std::array<std::array<std::uint64_t, 512>, 4> tables{};
  alignas(4096) std::array<std::byte, 4096> page{};

  OwnTables() {
    page.fill(std::byte{0x77});
    tables[0][0x24] = reinterpret_cast<std::uint64_t>(&tables[1]) | kPresent;
    tables[1][0xd1] = reinterpret_cast<std::uint64_t>(&tables[2]) | kPresent;
    tables[2][0xb3] = reinterpret_cast<std::uint64_t>(&tables[3]) | kPresent;
    tables[3][0x189] = reinterpret_cast<std::uint64_t>(&page) | kPresent;
  }
  [[nodiscard]] static UserTables shape() {
    UserTables tables;
    tables.shape.address_bits = 47;
    tables.shape.levels = {{39, 9}, {30, 9, true}, {21, 9, true}, {12, 9}};
    tables.shape.present = {kPresent, kPresent};
    tables.shape.table = {0x80, 0};
    tables.shape.address[0] = {0x000f'ffff'ffff'f000, 0};
    return tables;
  }
};

TEST_F(CurrentTaskTest, WalksThePageTablesOfTheTask) {
  const auto own = std::make_unique<OwnTables>();
  mm_.pgd = &own->tables[0];
  saved_->sp = OwnTables::kAddress + 0x200;
  const wire::Capture before = capture(PrivilegeLevel::kKernel, kKernelSp);
  EXPECT_EQ(user_bytes(before), 0u);
  EXPECT_FALSE(current_->has_walked(before));
  current_->adopt(OwnTables::shape());
  const wire::Capture taken = capture(PrivilegeLevel::kKernel, kKernelSp);
  EXPECT_EQ(user_bytes(taken), 2048u);
  EXPECT_EQ(taken.read<std::uint8_t>({OwnTables::kAddress + 0x9ff}), 0x77);
  EXPECT_TRUE(current_->has_walked(taken));
  const auto view = current_->read(taken);
  ASSERT_TRUE(view && view->user);
  EXPECT_EQ(view->user->get(kRip), 0x401234u);
  EXPECT_EQ(view->user->get(kRsp), OwnTables::kAddress + 0x200);
  EXPECT_EQ(user_bytes(capture(PrivilegeLevel::kUser, OwnTables::kAddress)), 0u);
  task_.mm = nullptr;
  EXPECT_EQ(user_bytes(capture(PrivilegeLevel::kKernel, kKernelSp)), 0u);
}

TEST_F(CurrentTaskTest, OfUserCode) {
  const wire::Capture taken =
      capture(PrivilegeLevel::kUser, reinterpret_cast<std::uint64_t>(user_stack_.data()) + 8);
  const auto view = current_->read(taken);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->tid, 12u);
  EXPECT_FALSE(view->user);
  EXPECT_EQ(user_bytes(taken), 2048u);
}

TEST_F(CurrentTaskTest, KernelThreadsHaveNoUserCode) {
  task_.mm = nullptr;
  const wire::Capture taken = capture(PrivilegeLevel::kKernel, kKernelSp);
  const auto view = current_->read(taken);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->is_kernel_thread());
  EXPECT_FALSE(view->user);
  EXPECT_EQ(user_bytes(taken), 0u);
}

TEST_F(CurrentTaskTest, RegistersThatAreNotSavedYetAreNotTaken) {
  saved_->cs = 0x10;
  EXPECT_FALSE(current_->read(capture(PrivilegeLevel::kKernel, kKernelSp))->user);
  saved_->cs = 0x33;
  // Still the user's stack pointer, and the stack of x86_64's entry area.
  EXPECT_FALSE(current_->read(capture(PrivilegeLevel::kKernel, 0x7fff0000))->user);
  EXPECT_FALSE(current_->read(capture(PrivilegeLevel::kKernel, 0xfffffe0000001000))->user);
  mm_.start_code = 0;
  const auto in_exec = current_->read(capture(PrivilegeLevel::kKernel, kKernelSp));
  EXPECT_TRUE(in_exec->is_in_exec());
  EXPECT_FALSE(in_exec->user);
}

TEST_F(CurrentTaskTest, NothingWhereTheKernelIsNotMapped) {
  is_mapped_ = false;
  EXPECT_FALSE(current_->read(capture(PrivilegeLevel::kUser, 0x7fff0000)));
}

// The program is identified by its file, with each member of FileIdentity.
TEST_F(CurrentTaskTest, WhichProgramItIs) {
  auto current = CurrentTask::of(kernel_, *source_, true);
  ASSERT_TRUE(current && current->find(0, PerCpu(kernel_), memory_).value());
  super_block disk{};
  disk.s_dev = 8 << 20 | 1;
  inode program{};
  program.i_sb = &disk;
  program.i_ino = 22;
  program.i_size = 5000;
  program.i_ctime_sec = 1795300625;
  program.i_ctime_nsec = 999999999;
  program.i_generation = 0x80000005;
  file executed{};
  executed.f_inode = &program;
  mm_.exe_file = &executed;
  const FileIdentity expected{8 << 20 | 1, 22, 0x80000005, 5000, 1795300625, 999999999};
  const auto user_sp = reinterpret_cast<std::uint64_t>(user_stack_.data());
  const auto in_user_code = current->read(capture(*current, PrivilegeLevel::kUser, user_sp));
  ASSERT_TRUE(in_user_code && in_user_code->program);
  EXPECT_EQ(*in_user_code->program, expected);
  wire::Capture in_kernel = capture(*current, PrivilegeLevel::kKernel, kKernelSp);
  ASSERT_TRUE(current->read(in_kernel)->program);
  EXPECT_EQ(*current->read(in_kernel)->program, expected);
  EXPECT_TRUE(current->read(in_kernel)->user);
  EXPECT_EQ(user_bytes(in_kernel), 2048u);
  // Nothing of what is cut, or does not lead on.
  for (wire::MemoryPiece& piece : in_kernel.pieces)
    if (piece.address.value == reinterpret_cast<std::uint64_t>(&disk.s_dev)) piece.size = 2;
  EXPECT_FALSE(current->read(in_kernel)->program);
  program.i_sb = reinterpret_cast<super_block*>(0xdead000000000000);
  EXPECT_FALSE(current->read(capture(*current, PrivilegeLevel::kUser, user_sp))->program);
  mm_.exe_file = nullptr;
  const auto without = current->read(capture(*current, PrivilegeLevel::kKernel, kKernelSp));
  EXPECT_FALSE(without->program);
  EXPECT_TRUE(without->user);
}

TEST_F(CurrentTaskTest, IsReadLaterToo) {
  const KernelReader read(memory_, Arch::kX86_64);
  const auto view = read_task(current_->types(), read, {reinterpret_cast<std::uint64_t>(&task_)});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->comm, "dash");
  EXPECT_EQ(view->space[2], 7u);
  EXPECT_FALSE(view->user);
}

}  // namespace
}  // namespace ringside::guestos
