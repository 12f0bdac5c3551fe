#include "arch/i386.h"

#include <elf.h>

#include "arch/arch_info.h"
#include "arch/x86.h"

namespace ringside::arch {
namespace {

using namespace i386;

// QEMU's gdb-xml/i386-32bit.xml (7.2).
constexpr RegisterName kNames[] = {
    {"eax", kEax}, {"ecx", kEcx}, {"edx", kEdx},        {"ebx", kEbx},        {"esp", kEsp},
    {"ebp", kEbp}, {"esi", kEsi}, {"edi", kEdi},        {"eip", kEip},        {"eflags", kEflags},
    {"cs", kCs},   {"ss", kSs},   {"fs_base", kFsBase}, {"gs_base", kGsBase}, {"cr0", kCr0},
    {"cr2", kCr2}, {"cr3", kCr3}, {"cr4", kCr4},
};

// Virtual-8086 mode is ring 3; its segments are no selectors.
PrivilegeLevel level(const Registers& registers) {
  constexpr std::uint64_t kVirtual8086 = 1u << 17;
  const PrivilegeLevel level = x86_level(registers, kCr0, kCs);
  const bool vm86 = (registers.get(kEflags) & kVirtual8086) != 0;
  return level == PrivilegeLevel::kKernel && vm86 ? PrivilegeLevel::kUser : level;
}

}  // namespace

constinit const ArchInfo kI386Info = {
    .id = Arch::kI386,
    .name = "i386",
    .elf_machine = EM_386,
    .gdb_name = "i386",
    .registers = kNames,
    .roles = {.pc = kEip,
              .sp = kEsp,
              .fp = kEbp,
              .pointer_size = 4,
              .stack_alignment = 4,
              .callee_saved = 1u << kEbx | 1u << kEbp | 1u << kEsi | 1u << kEdi},
    .frame_record = {.caller_sp = 2},  // push %ebp; mov %esp, %ebp
    .address_bits = 32,
    .lowest_kernel_address = 0x4000'0000,  // Linux's CONFIG_VMSPLIT_1G
    .user_root = {kCr3, 0xffff'ffe0},      // the tables of physical address extension: 32 bytes
    .privilege_level = level,
    .user_mode = {kCs, 3, 3},  // the code segment's privilege level (Intel SDM volume 3, 5.5)
    .saved_mode = {kCs, 3, 3},
    .is_x86 = true,
    .firmware_mode = "of code that runs without paging",
    .guest_mode = "in user mode at a kernel's addresses, as Xen's dom0",
};

}  // namespace ringside::arch
