#include "guestos/linux/entry/interrupt_entries.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "elf/elf_writer.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kSize = 0x100;
constexpr std::uint64_t kBias = 0x10000;

// A kernel that has a function of each name, kSize bytes each.
class InterruptEntries : public ::testing::Test {
 protected:
  void make_kernel(Arch arch, std::vector<std::string_view> names) {
    names_ = std::move(names);
    const std::vector<std::byte> code(kSize * names_.size());
    elf::ElfWriter writer(arch, arch != Arch::kI386, ET_EXEC);
    writer.add_segment({0x1000}, code.size(), true, false, code);
    std::vector<elf::ElfWriter::Symbol> symbols;
    for (std::size_t i = 0; i < names_.size(); ++i)
      symbols.push_back({names_[i],
                         {0x1000 + kSize * i},
                         i % 2 == 0 ? kSize : 0,  // labels have no size
                         ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)});
    writer.set_symbols(symbols);
    kernel_ = {.id = 1,
               .name = "kernel",
               .file = elf::ElfFile::from_bytes(writer.write(), "kernel").value(),
               .load_bias = kBias};
  }

  // A stack of such functions, leaf first; `interrupted` of its frames are above something that
  // was interrupted, as the unwinder says. The names that come out marked.
  std::vector<std::string_view> marked(const std::vector<std::string_view>& names,
                                       std::size_t interrupted, StopReason stop) {
    Stack stack;
    stack.stop = stop;
    for (const std::string_view name : names) {
      const auto at =
          static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
      EXPECT_LT(at, names_.size()) << name;
      Frame frame{.address = {kBias + 0x1000 + kSize * at + 0x80}};
      if (stack.frames.size() < interrupted) frame.kind = FrameKind::kInterrupt;
      stack.frames.push_back(frame);
    }
    linux_interrupt_code(kernel_).mark(stack);
    std::vector<std::string_view> result;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (stack.frames[i].kind == FrameKind::kInterrupt) result.push_back(names[i]);
    return result;
  }

  std::vector<std::string_view> names_;
  elf::Image kernel_;
};

using Names = std::vector<std::string_view>;
constexpr StopReason kUser = StopReason::kUserMode;
constexpr StopReason kEnd = StopReason::kEndOfStack;

TEST_F(InterruptEntries, OnX86DistinguishTimersFromPageFaults) {
  make_kernel(Arch::kX86_64, {"asm_exc_page_fault", "asm_sysvec_apic_timer_interrupt", "tick",
                              "fault", "entry_SYSCALL_64", "copy", "asm_exc_nmi"});
  const Names timer{"tick", "asm_sysvec_apic_timer_interrupt"};
  EXPECT_EQ(
      marked({"tick", "asm_sysvec_apic_timer_interrupt", "copy", "entry_SYSCALL_64"}, 2, kUser),
      timer);
  EXPECT_EQ(marked({"fault", "asm_exc_page_fault", "copy", "entry_SYSCALL_64"}, 2, kUser), Names{});
  // The unwinder cannot report that user code was interrupted.
  EXPECT_EQ(marked({"tick", "asm_sysvec_apic_timer_interrupt"}, 0, kUser), timer);
  EXPECT_EQ(marked({"fault", "asm_exc_page_fault"}, 0, kUser), Names{});
  EXPECT_EQ(marked({"copy", "entry_SYSCALL_64"}, 0, kUser), Names{});
  // A timer during a page fault, and a page fault during a timer's interrupt.
  EXPECT_EQ(
      marked({"tick", "asm_sysvec_apic_timer_interrupt", "fault", "asm_exc_page_fault", "copy"}, 4,
             kEnd),
      timer);
  const Names all{"fault", "asm_exc_page_fault", "tick", "asm_sysvec_apic_timer_interrupt"};
  EXPECT_EQ(
      marked({"fault", "asm_exc_page_fault", "tick", "asm_sysvec_apic_timer_interrupt", "copy"}, 4,
             kEnd),
      all);
  EXPECT_EQ(
      marked({"fault", "asm_exc_page_fault", "tick", "asm_sysvec_apic_timer_interrupt"}, 2, kUser),
      all);
}

TEST_F(InterruptEntries, OnI386ShareTheirEntry) {
  make_kernel(Arch::kI386, {"handle_exception", "sysvec_apic_timer_interrupt", "exc_page_fault",
                            "asm_common_interrupt", "common_interrupt", "copy"});
  const Names timer{"sysvec_apic_timer_interrupt", "handle_exception"};
  EXPECT_EQ(marked({"sysvec_apic_timer_interrupt", "handle_exception", "copy"}, 2, kEnd), timer);
  EXPECT_EQ(marked({"sysvec_apic_timer_interrupt", "handle_exception"}, 0, kUser), timer);
  EXPECT_EQ(marked({"exc_page_fault", "handle_exception"}, 0, kUser), Names{});
  EXPECT_EQ(marked({"common_interrupt", "asm_common_interrupt", "copy"}, 2, kEnd),
            (Names{"common_interrupt", "asm_common_interrupt"}));
}

TEST_F(InterruptEntries, OnAarch64AndRiscv64) {
  make_kernel(Arch::kAArch64, {"el1h_64_irq", "el1h_64_sync", "el0t_64_irq", "tick", "copy"});
  EXPECT_EQ(marked({"tick", "el1h_64_irq", "copy"}, 2, kEnd), (Names{"tick", "el1h_64_irq"}));
  EXPECT_EQ(marked({"copy", "el1h_64_sync", "copy"}, 2, kEnd), Names{});
  EXPECT_EQ(marked({"tick", "el0t_64_irq"}, 0, kUser), (Names{"tick", "el0t_64_irq"}));
  make_kernel(Arch::kRiscv64, {"handle_exception", "do_irq", "do_page_fault", "copy"});
  EXPECT_EQ(marked({"do_irq", "handle_exception", "copy"}, 2, kEnd),
            (Names{"do_irq", "handle_exception"}));
  EXPECT_EQ(marked({"do_page_fault", "handle_exception", "copy"}, 2, kEnd), Names{});
}

TEST_F(InterruptEntries, WhereNoneAreKnownEverythingStays) {
  make_kernel(Arch::kX86_64, {"trap", "handler", "main"});
  EXPECT_EQ(marked({"handler", "trap", "main"}, 2, kEnd), (Names{"handler", "trap"}));
  EXPECT_EQ(marked({}, 0, kEnd), Names{});
}

}  // namespace
}  // namespace ringside::guestos
