#pragma once

#include "engines/testing/fake_engine.h"
#include "memory/testing/fake_physical_memory.h"

namespace ringside::session::testing {

// An arm64 Linux with 39-bit addresses and page-table isolation, its page tables made by hand: the
// trampoline's root at 0x1000 maps its own page only, the one at 0x2000 nothing, the kernel's at
// 0x3000 text and stack. A capture in the kernel, and a vCPU that is in user mode when it is asked.
struct Arm64Guest {
  static constexpr std::uint64_t kTrampoline = 0xffffffffffe00000;  // entries 0x1ff, 0x1ff and 0
  static constexpr std::uint64_t kText = 0xffffffc008010000;        // entries 0x100, 0x40 and 0x10
  static constexpr std::uint64_t kStack = 0xffffffc008400000;       // the first behind it
  static constexpr std::uint64_t kPage = 0x703;                     // a page's descriptor

  Arm64Guest() {
    using namespace arch::aarch64;
    constexpr std::uint64_t kTable = 3;
    for (const std::uint64_t root : {0x1000u, 0x3000u})
      ram_.put(GuestPhys{root + 0x1ff * 8}, 0x4000 | kTable);
    ram_.put(GuestPhys{0x4000 + 0x1ff * 8}, 0x5000 | kTable);
    ram_.put(GuestPhys{0x5000}, 0x8000 | kPage);
    ram_.put(GuestPhys{0x3000 + 0x100 * 8}, 0x6000 | kTable);
    ram_.put(GuestPhys{0x6000 + 0x40 * 8}, 0x7000 | kTable);
    ram_.put(GuestPhys{0x6000 + 0x41 * 8}, 0x9000 | kTable);
    ram_.put(GuestPhys{0x7000 + 0x10 * 8}, 0xa000 | kPage);
    ram_.put(GuestPhys{0x9000 + 0x1ff * 8}, 0xb000 | kPage);
    ram_.put(GuestPhys{0xa000}, std::uint64_t{0x7e47});
    engine_.physical = &ram_;
    capture_.arch = Arch::kAArch64;
    capture_.level = PrivilegeLevel::kKernel;
    capture_.registers.set(kPc, kText + 0x123);
    capture_.registers.set(kSp, kStack);
    capture_.registers.set(kCpsr, 5);  // EL1h
    engine_.registers.set(kCpsr, 0);   // EL0, later
    engine_.registers.set(kTtbr0El1, 0x1000);
    engine_.registers.set(kTtbr1El1, 0x1000);
    engine_.registers.set(kTcrEl1, 25u | 25u << 16 | 2u << 30);
    engine_.registers.set(kSctlrEl1, 1);
  }

  memory::testing::FakePhysicalMemory ram_{0xd000};
  engines::testing::FakeEngine engine_{1};
  wire::Capture capture_;
};

}  // namespace ringside::session::testing
