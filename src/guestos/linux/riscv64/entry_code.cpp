#include "guestos/linux/riscv64/entry_code.h"

#include <tuple>

#include "guestos/linux/entry/register_saver.h"
#include "unwind/riscv64/decoder.h"

namespace ringside::guestos {
namespace {

using namespace arch::riscv64;
constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
constexpr std::uint64_t kEntryBytes = 512;    // until the registers are saved
constexpr std::uint64_t kFromKernel = 0x100;  // sstatus.SPP

// arch/riscv/kernel/entry.S: handle_exception puts the stack pointer away in the task's
// thread_info, and saves registers on the kernel's stack, whatever it was called from. User code's
// pc and status are in system registers meanwhile.
class Riscv64EntryCode final : public EntryCode {
 public:
  Riscv64EntryCode(const elf::Image& kernel, const UserRegisters& pt_regs)
      : pt_regs_(pt_regs),
        saver_(register_saver(kernel, "handle_exception", kEntryBytes, pt_regs.frame,
                              unwind::riscv64::Decoder())) {}

  void find_user_stack(wire::RecipeBuilder& recipe, VcpuId, wire::RecipeBuilder::Slot sp,
                       wire::RecipeBuilder::Label nothing) const override {
    if (!saver_ || !saver_->sp_scratch_offset) return recipe.go(nothing);
    const auto at = recipe.slot();
    const auto found = recipe.label();
    recipe.read_register(at, kPc, nothing);
    recipe.subtract(at, at, saver_->start.value);
    recipe.go_if_not_less(at, saver_->saved_at[kSp], nothing);
    recipe.read_register(sp, kSp, nothing);
    recipe.go_if_less(sp, kKernelHalf, found);
    recipe.read_register(at, kTp, nothing);
    recipe.go_if_less(at, kKernelHalf, nothing);
    recipe.load(sp, {at, *saver_->sp_scratch_offset}, 8, nothing);
    // The kernel was interrupted.
    recipe.go_if_not_less(sp, kKernelHalf, nothing);
    recipe.copy({at, *saver_->sp_scratch_offset}, 8, wire::PieceKind::kStackLink);
    recipe.bind(found);
  }

  [[nodiscard]] std::optional<arch::Registers> user_registers(const wire::Capture& capture,
                                                              const Copied& copied) const override {
    const arch::Registers& live = capture.registers;
    const GuestVirt pc{live.get(kPc)};
    const bool is_from_user = live.has(kSstatus) && (live.get(kSstatus) & kFromKernel) == 0;
    if (saver_ && saver_->has(pc) && is_from_user) return while_saving(capture, pc);
    if (copied.saved == nullptr) return std::nullopt;
    return with_saved({}, capture, pt_regs_.frame, copied.saved->address);
  }

 private:
  [[nodiscard]] std::optional<arch::Registers> while_saving(const wire::Capture& capture,
                                                            GuestVirt pc) const {
    arch::Registers registers = capture.registers;
    if (!registers.has(kSepc)) return std::nullopt;
    registers.set(kPc, registers.get(kSepc));
    registers.forget(kTp);
    if (registers.get(kSp) >= kKernelHalf) {
      const GuestVirt task{capture.registers.get(kTp)};
      const auto sp = saver_->sp_scratch_offset
                          ? capture.read<std::uint64_t>(task + *saver_->sp_scratch_offset)
                          : std::nullopt;
      if (!sp) return std::nullopt;
      registers.set(kSp, *sp);
    }
    return saver_->with_saved(registers, capture, pt_regs_.frame, pc);
  }

  UserRegisters pt_regs_;
  std::optional<RegisterSaver> saver_;
};

}  // namespace

std::unique_ptr<EntryCode> riscv64_entry_code(const elf::Image& kernel,
                                              const UserRegisters& pt_regs) {
  return std::make_unique<Riscv64EntryCode>(kernel, pt_regs);
}

}  // namespace ringside::guestos
