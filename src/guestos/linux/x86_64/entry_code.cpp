#include "guestos/linux/x86_64/entry_code.h"

#include <algorithm>
#include <array>

#include "arch/arch_info.h"
#include "guestos/linux/x86/common.h"

namespace ringside::guestos {
namespace {

using namespace arch::x86_64;
// cpu_entry_area (Documentation/arch/x86/x86_64/mm.rst), which user code's page tables map too.
constexpr std::uint64_t kArea = 0xfffffe0000000000;
constexpr std::uint64_t kAreaSize = std::uint64_t{1} << 39;
// Size of the frame that hardware pushes at the entry stack's end: rip, cs, rflags, rsp, ss.
constexpr std::uint64_t kFrameBytes = 40;
constexpr std::uint64_t kCsBelowEnd = 32;
constexpr std::uint64_t kRspBelowEnd = 16;
constexpr std::uint64_t kSsBelowEnd = 8;
constexpr std::uint64_t kMaxSelector = 0xffff;
constexpr std::uint64_t kUserCs = 0x33;    // __USER_CS, asm/segment.h
constexpr std::uint64_t kUser32Cs = 0x23;  // __USER32_CS
constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
// Where values of CR3 of one process differ: X86_CR3_PCID_NOFLUSH, which is not kept, and what
// shows user code's page tables (PTI_USER_PGTABLE_AND_PCID_MASK, arch/x86/entry/calling.h).
constexpr std::uint64_t kSameCr3 = ~(std::uint64_t{1} << 63 | 0x1800);

bool is_in_area(GuestVirt sp) { return sp.value - kArea - 1 < kAreaSize; }

// arch/x86/entry/entry_64.S. A system call leaves all on the user's stack at first; its stack
// pointer is put away (cpu_tss_rw.x86_tss.sp2), and with page-table isolation its register has the
// new CR3 before the task's stack. Exceptions and interrupts push everything on the entry stack,
// whence C code moves it. The exit path is over the entry stack too: with what `iret` wants, or two
// words before `sysret`. 32-bit code's `syscall` is much the same. Its `sysenter` saves nothing:
// the vDSO keeps the stack pointer in ebp, and is returned to at one place, which C code fills in.
class X86_64EntryCode final : public EntryCode {
 public:
  X86_64EntryCode(const elf::Image& kernel, const UserRegisters& pt_regs, const TypeSource& types)
      : pt_regs_(pt_regs),
        pages_(has_x86_entry_stack(types)),
        landing_pad_(x86_landing_pad(*kernel.file, types)) {
    constexpr std::array<std::string_view, 3> kLabels{"entry_SYSCALL_64",
                                                      "syscall_return_via_sysret", "entry_SYSRETQ"};
    constexpr std::array<std::string_view, 3> kCompatLabels{
        "entry_SYSCALL_compat", "sysret32_from_system_call", "entry_SYSRETL_compat"};
    system_calls_[0].code =
        x86_entry_function(kernel, "entry_SYSCALL_64", kLabels, "do_syscall_64");
    system_calls_[1] = {.code = x86_entry_function(kernel, "entry_SYSCALL_compat", kCompatLabels,
                                                   "do_fast_syscall_32"),
                        .cs = kUser32Cs,
                        .sp_register = kR8};
    constexpr std::array<std::string_view, 1> kSysenterLabels{"entry_SYSENTER_compat"};
    sysenter_ =
        x86_entry_function(kernel, "entry_SYSENTER_compat", kSysenterLabels, "do_SYSENTER_32");
    const auto exit_path = kernel.file->symbol_named("swapgs_restore_regs_and_return_to_usermode");
    const auto to_kernel = kernel.file->symbol_named("restore_regs_and_return_to_kernel");
    constexpr std::uint64_t kMaxExitPath = 0x1000;
    if (exit_path && to_kernel && to_kernel->address - exit_path->address <= kMaxExitPath)
      exit_path_ = {kernel.to_guest(exit_path->address), to_kernel->address - exit_path->address};
    const auto task_state = kernel.file->symbol_named("cpu_tss_rw");
    const auto scratch_slot = types.member("tss_struct", "x86_tss.sp2");
    if (task_state && scratch_slot) scratch_slot_ = task_state->address + scratch_slot->offset;
  }

  [[nodiscard]] Result<bool> find(std::size_t cpu, const PerCpu& per_cpu,
                                  VirtualMemory& memory) override {
    if (!scratch_slot_) return true;
    if (scratch_slot_of_.size() <= cpu) scratch_slot_of_.resize(cpu + 1);
    RINGSIDE_ASSIGN(scratch_slot_of_[cpu], per_cpu.copy_of(*scratch_slot_, cpu, memory));
    return scratch_slot_of_[cpu].has_value();
  }

  void find_user_stack(wire::RecipeBuilder& recipe, VcpuId vcpu, wire::RecipeBuilder::Slot sp,
                       wire::RecipeBuilder::Label nothing) const override {
    const auto at = recipe.slot();
    const auto other = recipe.slot();
    const auto found = recipe.label();
    const auto by_syscall = recipe.label();
    const auto on_stack = recipe.label();
    const auto is_64_bit = recipe.label();
    const auto on_user_stack = recipe.label();
    recipe.read_register(at, kRsp, nothing);
    recipe.read_register(other, kRip, nothing);
    recipe.subtract(other, other, sysenter_.start.value);
    recipe.go_if_not_less(other, sysenter_.entry_path, by_syscall);
    recipe.read_register(sp, kRbp, nothing);
    recipe.go_if_not_equal(sp, 0, found);
    // It was cleared, behind all pushes.
    recipe.load(sp, {at, saved(kRbp)}, 8, nothing);
    recipe.go(found);

    recipe.bind(by_syscall);
    recipe.read_register(other, kCr3, on_stack);
    recipe.mask(other, other, kSameCr3);
    recipe.mask(sp, at, kSameCr3);
    recipe.go_if_not_equal(other, sp, on_stack);
    const SystemCall& compat = system_calls_.back();
    recipe.read_register(other, kRip, nothing);
    recipe.subtract(other, other, compat.code.start.value);
    recipe.go_if_not_less(other, compat.code.size, is_64_bit);
    recipe.read_register(sp, compat.sp_register, nothing);
    recipe.mask(sp, sp, 0xffffffff);
    recipe.go(found);

    recipe.bind(is_64_bit);
    if (const auto scratch_slot = scratch_slot_of(vcpu)) {
      recipe.set(at, scratch_slot->value);
      recipe.load(sp, {at}, 8, nothing);
      recipe.copy({at}, 8, wire::PieceKind::kStackLink);
      recipe.go(found);
    }
    recipe.go(nothing);

    recipe.bind(on_stack);
    recipe.go_if_less(at, kKernelHalf, on_user_stack);
    if (pages_) {
      recipe.subtract(at, at, 1);
      recipe.subtract(other, at, kArea);
      recipe.go_if_not_less(other, kAreaSize, nothing);
      recipe.mask(at, at, ~(kX86EntryStack - 1));
      // A selector, or user code's stack pointer on its exit path.
      recipe.load(sp, {at, kX86EntryStack - kSsBelowEnd}, 8, nothing);
      recipe.go_if_not_less(sp, kMaxSelector + 1, found);
      recipe.load(sp, {at, kX86EntryStack - kRspBelowEnd}, 8, nothing);
      recipe.go(found);
    }
    recipe.go(nothing);

    recipe.bind(on_user_stack);
    recipe.assign(sp, at);
    recipe.bind(found);
  }

  [[nodiscard]] std::optional<arch::Registers> user_registers(const wire::Capture& capture,
                                                              const Copied& copied) const override {
    const GuestVirt sp{capture.registers.get(kRsp)};
    const GuestVirt pc{capture.registers.get(kRip)};
    if (sysenter_.is_entry_path(pc)) return of_sysenter(capture, copied, sp);
    const bool is_scratch =
        capture.registers.has(kCr3) && ((sp.value ^ capture.registers.get(kCr3)) & kSameCr3) == 0;
    const SystemCall* const call = system_call_at(pc);
    if (is_scratch || sp.value < kKernelHalf)
      return call ? of_system_call(capture, *call, is_scratch) : std::nullopt;
    if (is_in_area(sp)) return on_entry_stack(capture, copied, sp, pc);
    if (copied.saved == nullptr) return std::nullopt;
    const GuestVirt frame = copied.saved->address;
    const bool is_in_frame = sp > frame && sp - frame <= pt_regs_.size;
    if (!is_in_frame || exit_path_.has(pc) || (call && !call->code.is_entry_path(pc))) {
      const auto registers = with_saved(capture.registers, capture, pt_regs_.frame, frame);
      return registers.get(kRip) == 0 ? before_filled_in(registers) : registers;
    }
    if (call == nullptr || sp > frame + saved(kRsp)) return std::nullopt;
    return with_saved(as_system_call(capture, *call, 0), capture, pt_regs_.frame, frame, sp);
  }

  [[nodiscard]] std::optional<std::uint32_t> landing_pad() const override { return landing_pad_; }

 private:
  // Bytes from the start of struct pt_regs.
  [[nodiscard]] std::uint64_t saved(std::uint8_t reg) const {
    return static_cast<std::uint64_t>(pt_regs_.frame.offsets[reg]);
  }

  [[nodiscard]] std::optional<GuestVirt> scratch_slot_of(VcpuId vcpu) const {
    return vcpu.value < scratch_slot_of_.size() ? scratch_slot_of_[vcpu.value] : std::nullopt;
  }

  // Entered by `syscall`.
  struct SystemCall {
    EntryFunction code;
    std::uint64_t cs = kUserCs;  // user code's
    // The register that keeps the stack pointer while rsp is scratch; kNone: it is put away.
    std::uint8_t sp_register = arch::RegisterRoles::kNone;
  };
  [[nodiscard]] const SystemCall* system_call_at(GuestVirt pc) const {
    const auto found = std::find_if(system_calls_.begin(), system_calls_.end(),
                                    [pc](const SystemCall& call) { return call.code.has(pc); });
    return found == system_calls_.end() ? nullptr : &*found;
  }

  // `syscall` and `sysret` keep rip in rcx and rflags in r11.
  [[nodiscard]] static arch::Registers as_system_call(const wire::Capture& capture,
                                                      const SystemCall& call, std::uint64_t sp) {
    arch::Registers registers = capture.registers;
    registers.set(kRip, registers.get(kRcx));
    registers.set(kRflags, registers.get(kR11));
    registers.set(kCs, call.cs);
    registers.set(kRsp, sp);
    return registers;
  }

  // All but what is pushed is in its register until all is pushed, and cleared afterwards.
  [[nodiscard]] std::optional<arch::Registers> of_sysenter(const wire::Capture& capture,
                                                           const Copied& copied,
                                                           GuestVirt sp) const {
    arch::Registers registers = capture.registers;
    if (!is_in_area(sp) && copied.saved != nullptr)
      registers = with_saved(registers, capture, pt_regs_.frame, copied.saved->address, sp);
    return after_sysenter(registers);
  }

  // Registers that `sysenter` does not save are 0 until C code has filled them in. A thread that
  // the kernel has made of a process for itself (io_uring) has zeros, too, and code may have jumped
  // to 0.
  [[nodiscard]] std::optional<arch::Registers> before_filled_in(
      const arch::Registers& registers) const {
    const bool is_by_sysenter = registers.get(kCs) == kUser32Cs && registers.get(kRsp) == 0;
    return is_by_sysenter ? after_sysenter(registers) : std::nullopt;
  }

  [[nodiscard]] std::optional<arch::Registers> after_sysenter(arch::Registers registers) const {
    if (!landing_pad_ || !registers.has(kRbp)) return std::nullopt;
    registers.set(kRip, 0);
    registers.set(kCs, kUser32Cs);
    registers.set(kRsp, registers.get(kRbp) & 0xffffffff);
    return registers;
  }

  [[nodiscard]] std::optional<arch::Registers> of_system_call(const wire::Capture& capture,
                                                              const SystemCall& call,
                                                              bool is_scratch) const {
    if (!is_scratch) return as_system_call(capture, call, capture.registers.get(kRsp));
    if (call.sp_register != arch::RegisterRoles::kNone)
      return as_system_call(capture, call, capture.registers.get(call.sp_register) & 0xffffffff);
    const auto scratch_slot = scratch_slot_of(capture.vcpu);
    const auto sp = scratch_slot ? capture.read<std::uint64_t>(*scratch_slot) : std::nullopt;
    return sp ? std::optional(as_system_call(capture, call, *sp)) : std::nullopt;
  }

  [[nodiscard]] std::optional<arch::Registers> on_entry_stack(const wire::Capture& capture,
                                                              const Copied& copied, GuestVirt sp,
                                                              GuestVirt pc) const {
    const SystemCall* const call = system_call_at(pc);
    // As long as the kernel is mapped, what was saved is there too.
    if (copied.saved != nullptr && (call || exit_path_.has(pc)))
      return with_saved(capture.registers, capture, pt_regs_.frame, copied.saved->address);
    const GuestVirt end = end_of_x86_entry_stack(sp);
    if (call) {
      const auto user_sp = capture.read<std::uint64_t>(end - kSsBelowEnd);
      return user_sp ? std::optional(as_system_call(capture, *call, *user_sp)) : std::nullopt;
    }
    if (!pages_ || end - sp < kFrameBytes) return std::nullopt;
    // By hardware, from user code: on the exit path other words may lie there.
    const auto ss = capture.read<std::uint64_t>(end - kSsBelowEnd);
    const auto cs = capture.read<std::uint64_t>(end - kCsBelowEnd);
    if (!ss || *ss > kMaxSelector || (cs != kUserCs && cs != kUser32Cs)) return std::nullopt;
    auto registers =
        with_saved(capture.registers, capture, pt_regs_.frame, end - pt_regs_.size, sp);
    if (registers.get(kRip) == 0) return std::nullopt;
    return registers;
  }

  UserRegisters pt_regs_;
  bool pages_;
  std::optional<std::uint32_t> landing_pad_;
  std::array<SystemCall, 2> system_calls_;  // of 64-bit and of 32-bit code
  EntryFunction sysenter_;
  EntryFunction exit_path_;
  std::optional<ImageAddr> scratch_slot_;
  std::vector<std::optional<GuestVirt>> scratch_slot_of_;  // by CPU
};

}  // namespace

std::unique_ptr<EntryCode> x86_64_entry_code(const elf::Image& kernel, const UserRegisters& pt_regs,
                                             const TypeSource& types) {
  return std::make_unique<X86_64EntryCode>(kernel, pt_regs, types);
}

}  // namespace ringside::guestos
