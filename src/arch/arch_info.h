#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "arch/registers.h"
#include "base/types.h"

namespace ringside::arch {

inline constexpr std::uint8_t kNoRegister = 0xff;

// Which of an architecture's registers play the parts that every stack needs, from its psABI.
struct RegisterRoles {
  static constexpr std::uint8_t kNone = kNoRegister;

  std::uint8_t pc = kNone;
  std::uint8_t sp = kNone;
  std::uint8_t fp = kNone;
  std::uint8_t link = kNone;         // holds the return address on entry
  std::uint8_t pointer_size = 8;     // bytes
  std::uint8_t stack_alignment = 8;  // that a stack pointer keeps inside a function too, bytes
  std::uint64_t callee_saved = 0;    // bit n: a function gives register n back as it was

  [[nodiscard]] constexpr bool known() const { return pc != kNone; }
};

// When a register that `g` does not hold is asked for. Each costs an answer of its own, 10 to 20 µs
// of the guest's time.
enum class AskedFor : std::uint8_t {
  kEverySample,   // says who runs, or in which address space
  kKernelSample,  // what entry code has not saved yet of the code that it interrupted
  kOnDemand,      // hardly changes: Engine::read_registers()
  kNever,         // has a number and a name, and no capture carries it
};

// Where each level has a register of its own for what exception entry saves, captures hold that of
// the level that runs, under the number of the kernel's usual one. As running_level() counts them.
inline constexpr std::uint8_t kAnyLevel = 0xff;

struct RegisterName {
  std::string_view name;  // as in gdb's target descriptions
  std::uint8_t id;        // the register's number
  AskedFor asked_for = AskedFor::kEverySample;
  std::uint8_t level = kAnyLevel;

  // Whether a capture gets it where `running` runs (running_level()). User code has been entered
  // from the usual level, 1.
  [[nodiscard]] bool is_of(std::optional<std::uint8_t> running) const;
};

// A running vCPU is in user mode where (register & mask) == value.
struct UserMode {
  std::uint8_t reg = kNoRegister;
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

// The status that hardware or entry code has saved of interrupted code: user code where its bits
// `mask` are `user_value`; or, where there is a `kernel_value`, where they are not that.
struct SavedMode {
  std::uint8_t reg = kNoRegister;
  std::uint64_t mask = 0;
  std::uint64_t user_value = 0;
  std::optional<std::uint64_t> kernel_value = std::nullopt;

  [[nodiscard]] constexpr bool is_user(std::uint64_t saved) const {
    const std::uint64_t bits = saved & mask;
    return kernel_value ? bits != *kernel_value : bits == user_value;
  }
};

// The root of the page tables that translate user addresses, physical: (register & mask) << shift.
// The other bits say which process's translations are cached (PCID, ASID), or how; those in `keeps`
// are the same for each process.
struct PageTableRoot {
  std::uint8_t reg = kNoRegister;
  std::uint64_t mask = 0;
  unsigned shift = 0;
  std::uint64_t keeps = 0;
};

// The frame-pointer convention. A frame record is the caller's frame pointer and, above it, the
// return address.
struct FrameRecord {
  std::int8_t from_fp = 0;  // words from the frame pointer to the record
  // Words from the frame pointer to the caller's stack pointer at the call; nothing where a frame
  // may be of any size above its record.
  std::optional<std::int8_t> caller_sp = std::nullopt;
};

// Where hardware puts what an exception has interrupted. kNoRegister: on the stack.
struct ExceptionRegisters {
  std::uint8_t pc = kNoRegister;
  std::uint8_t status = kNoRegister;
};

// The facts of an architecture alone: one constant each, in the .cpp file of its name.
//
// To add one (docs/adding-an-architecture.md has the parts above this folder, in the order in which
// they can be tested):
//   1. `Arch` and `kLastArch` in base/types.h. Numbers are in recordings: append.
//   2. arch/NAME.h: register numbers. DWARF's for the general ones; own ones from 32 on, or behind
//      DWARF's, for what says who runs. kRegisterCount bounds them.
//   3. arch/NAME.cpp: the fields below, with their sources in comments. arch_info_test.cpp demands
//      those without a default that serves most.
//   4. arch/architectures.cpp: its line.
// The compiler then names the switches that lack it (-Wswitch).
struct ArchInfo {
  Arch id = Arch::kUnknown;
  const char* name = "unknown";  // as messages, recordings and QEMU's `query-target` have it

  // ELF's e_machine. Its class is 64-bit where a pointer has 8 bytes.
  std::uint16_t elf_machine = 0;
  // How the architecture is called in gdb's target descriptions: exactly, or what follows too.
  std::string_view gdb_name = {};
  // The first row of a register has its name in texts of ours, which are in lower case.
  std::span<const RegisterName> registers = {};
  RegisterRoles roles = {};
  FrameRecord frame_record = {};
  unsigned address_bits = 64;
  // Kernels are linked to and run at addresses from here on.
  std::uint64_t lowest_kernel_address = std::uint64_t{1} << 63;
  // Return addresses may be signed (aarch64's pointer authentication).
  bool signs_addresses = false;
  PageTableRoot user_root = {};

  // Who runs, by the registers of a vCPU alone. privilege_level_of() has what each level is.
  PrivilegeLevel (*privilege_level)(const Registers&) = nullptr;
  // The level that runs, as the architecture counts them. Null: it has none above the kernel's.
  std::optional<std::uint8_t> (*running_level)(const Registers&) = nullptr;
  UserMode user_mode = {};
  SavedMode saved_mode = {};
  ExceptionRegisters exception = {};
  // The same architecture for a kernel that runs in this level. Null: as for the usual one.
  std::array<const ArchInfo*, 4> at_level = {};

  // Another architecture whose kernels this one's machines boot.
  Arch also_boots = Arch::kUnknown;
  bool is_x86 = false;
  // No address is virtual in the mode that counts as firmware's.
  bool firmware_is_physical = false;
  // In sentences about samples: which code is [firmware], which [guest].
  const char* firmware_mode = "";
  const char* guest_mode = "";

  [[nodiscard]] constexpr std::uint64_t address_mask() const {
    return ~std::uint64_t{0} >> (64 - address_bits);
  }
  // The half of the addresses where kernels live.
  [[nodiscard]] constexpr bool in_upper_half(std::uint64_t address) const {
    return address >> (address_bits - 1) != 0;
  }
  [[nodiscard]] constexpr bool is_64_bit() const { return roles.pointer_size == 8; }
  [[nodiscard]] constexpr bool boots(Arch kernel) const {
    return kernel == id || (kernel == also_boots && kernel != Arch::kUnknown);
  }

  // A saved return address without its pointer authentication code (Arm ARM, D8.10): bits 63 to 56
  // and 54 up to the address size, which bit 55 replaces. 48-bit addresses are assumed, which is
  // what kernels use unless they were built for 52.
  [[nodiscard]] constexpr std::uint64_t code_address(std::uint64_t value) const {
    if (!signs_addresses) return value & address_mask();
    constexpr std::uint64_t kExtension = ~std::uint64_t{0} << 48;
    return (value >> 55 & 1) != 0 ? value | kExtension : value & ~kExtension;
  }
};

extern const ArchInfo kX86_64Info;
extern const ArchInfo kI386Info;
extern const ArchInfo kAArch64Info;
extern const ArchInfo kRiscv64Info;

// All of them, in the order of `Arch`.
[[nodiscard]] std::span<const ArchInfo* const> architectures();

// For Arch::kUnknown one whose roles are not known.
[[nodiscard]] const ArchInfo& info_of(Arch arch);
// For a kernel that runs in this level (running_level()).
[[nodiscard]] const ArchInfo& info_of(Arch arch, std::optional<std::uint8_t> level);

// Null for Arch::kUnknown.
[[nodiscard]] const ArchInfo* find_info(Arch arch, std::optional<std::uint8_t> level = {});

[[nodiscard]] inline const RegisterRoles& roles_of(Arch arch) { return info_of(arch).roles; }
[[nodiscard]] inline const char* name_of(Arch arch) { return info_of(arch).name; }

// kUnknown for a name that is none of ArchInfo::name.
[[nodiscard]] Arch arch_named(std::string_view name);
// kUnknown for machines that are not profiled, and for x32 and 32-bit RISC-V.
[[nodiscard]] Arch arch_of_elf(std::uint16_t machine, bool is_64_bit);

}  // namespace ringside::arch
