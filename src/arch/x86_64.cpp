#include "arch/x86_64.h"

#include <elf.h>

#include "arch/arch_info.h"
#include "arch/x86.h"

namespace ringside::arch {
namespace {

using namespace x86_64;

// gdb's features org.gnu.gdb.i386.core and .linux, and QEMU's system registers in
// gdb-xml/i386-64bit.xml (7.2).
constexpr RegisterName kNames[] = {
    {"rax", kRax},
    {"rbx", kRbx},
    {"rcx", kRcx},
    {"rdx", kRdx},
    {"rsi", kRsi},
    {"rdi", kRdi},
    {"rbp", kRbp},
    {"rsp", kRsp},
    {"r8", kR8},
    {"r9", kR9},
    {"r10", kR10},
    {"r11", kR11},
    {"r12", kR12},
    {"r13", kR13},
    {"r14", kR14},
    {"r15", kR15},
    {"rip", kRip},
    {"eflags", kRflags},
    {"cs", kCs},
    {"ss", kSs},
    {"fs_base", kFsBase},
    {"gs_base", kGsBase},
    {"k_gs_base", kKernelGsBase},
    {"cr0", kCr0},
    {"cr2", kCr2},
    {"cr3", kCr3},
    {"cr4", kCr4},
    {"efer", kEfer},
    {"cr8", kCr8, AskedFor::kNever},
};

PrivilegeLevel level(const Registers& registers) { return x86_level(registers, kCr0, kCs); }

}  // namespace

constinit const ArchInfo kX86_64Info = {
    .id = Arch::kX86_64,
    .name = "x86_64",
    .elf_machine = EM_X86_64,
    .gdb_name = "i386:x86-64",
    .registers = kNames,
    .roles = {.pc = kRip,
              .sp = kRsp,
              .fp = kRbp,
              .callee_saved =
                  1u << kRbx | 1u << kRbp | 1u << kR12 | 1u << kR13 | 1u << kR14 | 1u << kR15},
    .frame_record = {.caller_sp = 2},            // push %rbp; mov %rsp, %rbp
    .user_root = {kCr3, 0x000f'ffff'ffff'f000},  // Intel SDM volume 3, 4.5
    .privilege_level = level,
    .user_mode = {kCs, 3, 3},  // the code segment's privilege level (Intel SDM volume 3, 5.5)
    .saved_mode = {kCs, 3, 3},
    .also_boots = Arch::kI386,
    .is_x86 = true,
    .firmware_mode = "of code that runs without paging",
    .guest_mode = "in user mode at a kernel's addresses, as Xen's dom0",
};

}  // namespace ringside::arch
