// Entries that a register of the processor leads to: aarch64's and riscv64's.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "elf/elf_writer.h"
#include "guestos/testing/stack_capture.h"
#include "guestos/user_interrupts/kernel_entries.h"
#include "guestos/user_interrupts/user_interrupts.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kCode = 0x10000;
constexpr std::uint64_t kBias = 0xffff000000000000;
constexpr GuestVirt kStack{0x7000};

class NoMemory final : public VirtualMemory {
 public:
  Result<std::size_t> read_up_to(GuestVirt, std::span<std::byte>) override {
    return std::size_t{0};
  }
};

// A kernel of hand-made code.
class EntriesByRegister : public ::testing::Test {
 protected:
  void put(std::uint64_t at, std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) {
      std::memcpy(code_.data() + at, &word, sizeof(word));
      at += sizeof(word);
    }
  }
  void make_kernel(Arch arch, std::vector<std::pair<std::string_view, std::uint64_t>> functions) {
    elf::ElfWriter writer(arch, true, ET_EXEC);
    writer.add_segment({kCode}, code_.size(), true, false, code_);
    std::vector<elf::ElfWriter::Symbol> symbols;
    for (const auto& [name, at] : functions)
      symbols.push_back({name, {kCode + at}, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)});
    writer.set_symbols(symbols);
    kernel_ = {.id = 1,
               .name = "kernel",
               .file = elf::ElfFile::from_bytes(writer.write(), "kernel").value(),
               .load_bias = kBias};
  }

  // Whether a stack on user code is marked whose outermost frame returns to the code at `at`, and
  // has `word` in the second word of its stack.
  bool marks(std::uint8_t base, std::uint64_t value, std::uint64_t at, std::uint64_t word = 0,
             bool is_exact = false) {
    NoMemory memory;
    const auto registers = [&] {
      arch::Registers now;
      now.set(base, value);
      return Result<arch::Registers>(now);
    };
    auto entries = KernelEntryFinder().find(kernel_, memory, registers).value();
    const auto capture = testing::stack_capture(kernel_.file->arch(), kStack, {0, word});
    Stack stack;
    stack.stop = stop_;
    stack.stopped_at = stopped_at_;
    stack.frames.push_back(
        {.address = GuestVirt{kBias + kCode + at}, .exact = is_exact, .source = source_});
    UserInterrupts(kernel_, std::move(entries)).mark(capture, stack, [] {
      return unwind::UserEntry{.kernel_sp = kStack};
    });
    return stack.frames.front().kind == FrameKind::kInterrupt;
  }

  std::vector<std::byte> code_ = std::vector<std::byte>(0x1000);
  elf::Image kernel_;
  StopReason stop_ = StopReason::kUserMode;
  GuestVirt stopped_at_;
  FrameSource source_ = FrameSource::kFramePointer;
};

// b and bl (Arm ARM, C6.2.26, C6.2.33).
std::uint32_t branch(std::uint64_t from, std::uint64_t to) {
  return 0x14000000 | (static_cast<std::uint32_t>((to - from) / 4) & 0x3ffffff);
}
std::uint32_t call(std::uint64_t from, std::uint64_t to) { return branch(from, to) | 1u << 31; }

constexpr std::uint64_t kInterrupt = 0x800;
constexpr std::uint64_t kSynchronous = 0x840;
constexpr std::uint64_t kRestore = 0x848;
constexpr std::uint64_t kHandler = 0x880;
constexpr std::uint32_t kNop = 0xd503201f;
constexpr std::uint32_t kEret = 0xd69f03e0;
constexpr std::uint32_t kRet = 0xd65f03c0;

class AArch64Entries : public EntriesByRegister {
 protected:
  // A table whose interrupts go to `interrupt`, and all other exceptions to kSynchronous.
  void make_table(std::uint64_t interrupt) {
    for (std::uint64_t at = 0; at < 0x800; at += 0x80) {
      const bool is_interrupt = at / 0x80 % 4 == 1 || at / 0x80 % 4 == 2;
      put(at, {branch(at, is_interrupt ? interrupt : kSynchronous)});
    }
    put(kInterrupt, {kNop, call(kInterrupt + 4, kHandler), branch(kInterrupt + 8, kRestore)});
    put(kSynchronous, {kNop, call(kSynchronous + 4, kHandler), kNop, kEret});
    put(kHandler, {kRet});
    make_kernel(Arch::kAArch64, {{"vectors", 0},
                                 {"interrupt", kInterrupt},
                                 {"synchronous", kSynchronous},
                                 {"restore", kRestore},
                                 {"handler", kHandler}});
  }
  bool marks(std::uint64_t at, std::uint64_t table = kBias + kCode) {
    return EntriesByRegister::marks(arch::aarch64::kVbarEl1, table, at);
  }
};

TEST_F(AArch64Entries, AreInterruptsWhereNoOtherExceptionHasTheirCode) {
  make_table(kInterrupt);
  EXPECT_TRUE(marks(kInterrupt + 8));
  EXPECT_TRUE(marks(0x481));  // the branch of the table itself, as a return address
  EXPECT_FALSE(marks(0x401));
  EXPECT_FALSE(marks(kSynchronous + 8));
  EXPECT_FALSE(marks(kRestore + 4));
  EXPECT_FALSE(marks(kHandler + 4));
  EXPECT_FALSE(marks(kInterrupt + 8, 0x5000));  // no code of the kernel's
}

TEST_F(AArch64Entries, AreInterruptsWhereTheReturnAddressIsUserCodes) {
  make_table(kInterrupt);
  stop_ = StopReason::kBadAddress;
  stopped_at_ = {0x401000};
  EXPECT_TRUE(marks(kInterrupt + 8));
  EXPECT_FALSE(marks(kSynchronous + 8));
  source_ = FrameSource::kGuess;
  EXPECT_FALSE(marks(kInterrupt + 8));
  source_ = FrameSource::kFramePointer;
  stopped_at_ = {kBias + 0x5000};
  EXPECT_FALSE(marks(kInterrupt + 8));
  stopped_at_ = {};
  EXPECT_FALSE(marks(kInterrupt + 8));
}

TEST_F(AArch64Entries, ProveNothingWhereAllGoToTheSameCode) {
  make_table(kSynchronous);
  EXPECT_FALSE(marks(kSynchronous + 8));
  EXPECT_TRUE(marks(0x481));
}

TEST_F(AArch64Entries, ProveNothingWhereOtherCodeJumpsIntoTheirs) {
  put(0x900, {branch(0x900, kInterrupt)});
  make_table(kInterrupt);
  EXPECT_FALSE(marks(kInterrupt + 8));
}

TEST_F(AArch64Entries, ProveNothingInExitCodeThatOthersShare) {
  make_table(kInterrupt);
  put(kInterrupt + 8, {kNop, kNop, kEret});
  put(kSynchronous + 8, {branch(kSynchronous + 8, kInterrupt + 12)});
  make_kernel(Arch::kAArch64, {{"interrupt", kInterrupt}, {"synchronous", kSynchronous}});
  const auto marks_exactly = [&](std::uint64_t at) {
    return EntriesByRegister::marks(arch::aarch64::kVbarEl1, kBias + kCode, at, 0, true);
  };
  EXPECT_TRUE(marks_exactly(kInterrupt + 8));
  EXPECT_FALSE(marks_exactly(kInterrupt + 12));
}

TEST_F(AArch64Entries, ProveNothingWhereOtherCodeReturnsIntoTheirs) {
  const auto marks_exactly = [&] {
    return EntriesByRegister::marks(arch::aarch64::kVbarEl1, kBias + kCode, kInterrupt + 8, 0,
                                    true);
  };
  make_table(kInterrupt);
  EXPECT_TRUE(marks_exactly());
  put(kSynchronous, {0x10fffe5e, branch(kSynchronous + 4, kHandler)});  // adr x30, kInterrupt + 8
  make_kernel(Arch::kAArch64, {{"interrupt", kInterrupt}, {"synchronous", kSynchronous}});
  EXPECT_FALSE(marks_exactly());
  put(kSynchronous, {0x91000000});
  make_table(kInterrupt);
  put(kHandler, {0xb0000000, kNop, kRet});  // adrp alone
  EXPECT_TRUE(marks_exactly());
}

// Each entry's visits of the code are counted.
TEST_F(AArch64Entries, AreNotFollowedWithoutEnd) {
  code_.resize(0x4000);
  for (std::uint64_t at = 0; at < code_.size(); at += 4) put(at, {kNop});
  make_kernel(Arch::kAArch64, {{"all", 0}});
  const auto count_at_last = [&](std::size_t entries) {
    std::vector<ImageAddr> addresses;
    for (std::size_t i = 0; i < entries; ++i) addresses.push_back({kCode + 4 * i});
    const CodeOfEntries code(*kernel_.file, addresses, {});
    return code.entries_at({kCode + 0x3ffc}).count();
  };
  EXPECT_EQ(count_at_last(100), 100u);
  EXPECT_EQ(count_at_last(500), 0u);
}

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

class Riscv64Entries : public EntriesByRegister {
 protected:
  // RISC-V unprivileged specification, 37: instructions; privileged specification, table 2.3: sepc
  // is 0x141, scause 0x142.
  void make_entry(bool stores_cause) {
    constexpr std::uint32_t kMakeFrame = 0xfe010113;   // addi sp, sp, -32
    constexpr std::uint32_t kReadPc = 0x14102373;      // csrr t1, sepc
    constexpr std::uint32_t kReadCause = 0x14202573;   // csrr a0, scause
    constexpr std::uint32_t kStorePc = 0x00613023;     // sd t1, 0(sp)
    constexpr std::uint32_t kStoreCause = 0x00a13423;  // sd a0, 8(sp)
    constexpr std::uint32_t kNothing = 0x00000013;
    constexpr std::uint32_t kCall = 0x00c000ef;  // jal ra, 12
    constexpr std::uint32_t kSret = 0x10200073;
    put(0, {kMakeFrame, kReadPc, kReadCause, kStorePc, stores_cause ? kStoreCause : kNothing, kCall,
            kNothing, kSret, 0x00008067});
    make_kernel(Arch::kRiscv64, {{"trap_entry", 0}, {"handler", 32}});
  }
  bool marks(std::uint64_t cause) {
    return EntriesByRegister::marks(arch::riscv64::kStvec, kBias + kCode, 24, cause);
  }
};

TEST_F(Riscv64Entries, AreInterruptsByTheCauseOnTheStack) {
  make_entry(true);
  EXPECT_TRUE(marks(kTop | 5));
  EXPECT_TRUE(marks(kTop | 9));
  EXPECT_FALSE(marks(8));   // a system call
  EXPECT_FALSE(marks(13));  // a page fault
  EXPECT_FALSE(marks(kTop | 0x1234'5678));
}

// System calls leave the word of the trap before in the place.
TEST_F(Riscv64Entries, ProveNothingWhereOneOfTheWaysDoesNotStoreTheCause) {
  put(0, {0xfe010113,    // addi sp, sp, -32
          0x14202573,    // csrr a0, scause
          0x00050663,    // beqz a0, 20
          0x00a13423,    // sd a0, 8(sp)
          0x00c000ef,    // jal ra, 28
          0x008000ef,    // jal ra, 28
          0x10200073,    // sret
          0x00008067});  // ret
  make_kernel(Arch::kRiscv64, {{"trap_entry", 0}, {"handler", 28}});
  EXPECT_FALSE(EntriesByRegister::marks(arch::riscv64::kStvec, kBias + kCode, 24, kTop | 5));
  put(8, {0x00a13423, 0x00050463});  // the store, and then the branch
  make_kernel(Arch::kRiscv64, {{"trap_entry", 0}, {"handler", 28}});
  EXPECT_TRUE(EntriesByRegister::marks(arch::riscv64::kStvec, kBias + kCode, 24, kTop | 5));
}

TEST_F(Riscv64Entries, ProveNothingWithoutIt) {
  make_entry(false);
  EXPECT_FALSE(marks(kTop | 5));
}

TEST_F(Riscv64Entries, AreInterruptsByTheirCodeWhereTheyAreVectored) {
  // Each goes to the word behind the last one's (privileged specification, 12.1.2).
  constexpr std::uint32_t kSret = 0x10200073;
  put(0x100, {kSret, kSret, kSret, kSret, kSret, kSret, kSret, kSret, kSret, kSret});
  make_kernel(Arch::kRiscv64, {{"vectors", 0x100}});
  const std::uint64_t stvec = (kBias + kCode + 0x100) | 1;
  EXPECT_TRUE(EntriesByRegister::marks(arch::riscv64::kStvec, stvec, 0x100 + 4 * 5 + 1));
  EXPECT_FALSE(EntriesByRegister::marks(arch::riscv64::kStvec, stvec, 0x100 + 1));
}

TEST_F(Riscv64Entries, ProveNothingWhereOtherCodeFormsTheirAddress) {
  constexpr std::uint32_t kSret = 0x10200073;
  put(0x100,
      {kSret, kSret, kSret, kSret, kSret, 0x0ec0006f, kSret, kSret, kSret, kSret});  // j 0x200
  put(0x200, {0x00000013, kSret});
  const auto marks_exactly = [&] {
    make_kernel(Arch::kRiscv64, {{"vectors", 0x100}, {"timer", 0x200}, {"other", 0x300}});
    const std::uint64_t stvec = (kBias + kCode + 0x100) | 1;
    return EntriesByRegister::marks(arch::riscv64::kStvec, stvec, 0x204, 0, true);
  };
  EXPECT_TRUE(marks_exactly());
  put(0x300, {0x00000297, 0xf0428293, kSret});  // auipc t0, 0; addi t0, t0, -252
  EXPECT_FALSE(marks_exactly());
}

}  // namespace
}  // namespace ringside::guestos
