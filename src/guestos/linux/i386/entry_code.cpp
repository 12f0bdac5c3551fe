#include "guestos/linux/i386/entry_code.h"

#include <array>
#include <cstring>
#include <tuple>

#include "guestos/linux/x86/common.h"

namespace ringside::guestos {
namespace {

using namespace arch::i386;
// cpu_entry_area is behind the memory for vmalloc(), and that, of 128 MiB, behind the linear map
// with all other stacks (arch/x86/include/asm/pgtable_32_areas.h).
constexpr std::uint64_t kBehindLinearMap = 0x1'0000'0000 - (128 << 20);
// Size of the frame that hardware pushes at the entry stack's end: eip, cs, eflags, esp, ss.
constexpr std::uint64_t kFrameBytes = 20;
constexpr std::uint64_t kEspBelowEnd = 8;
constexpr std::uint64_t kUserCs = 0x73;  // __USER_CS, asm/segment.h
constexpr std::uint8_t kWord = 4;

bool is_on_entry_stack(GuestVirt sp) { return sp.value > kBehindLinearMap; }

// arch/x86/entry/entry_32.S. Hardware pushes what it interrupts on the entry stack; entry code
// pushes the other registers there, and moves them all to the task's stack, and back on the way
// out. `sysenter` saves nothing: the vDSO keeps the stack pointer in ebp, and is returned to at one
// place, which C code fills in; `sysexit` takes them from ecx and edx.
class I386EntryCode final : public EntryCode {
 public:
  I386EntryCode(const elf::Image& kernel, const UserRegisters& pt_regs, const TypeSource& types)
      : pt_regs_(pt_regs),
        pages_(has_x86_entry_stack(types)),
        landing_pad_(x86_landing_pad(*kernel.file, types)) {
    constexpr std::array<std::string_view, 1> kLabels{"entry_SYSENTER_32"};
    system_call_ = x86_entry_function(kernel, "entry_SYSENTER_32", kLabels, "do_SYSENTER_32");
  }

  void find_user_stack(wire::RecipeBuilder& recipe, VcpuId, wire::RecipeBuilder::Slot sp,
                       wire::RecipeBuilder::Label nothing) const override {
    const auto at = recipe.slot();
    const auto other = recipe.slot();
    const auto found = recipe.label();
    const auto by_hardware = recipe.label();
    const auto on_task_stack = recipe.label();
    const auto behind = recipe.label();
    recipe.read_register(at, kEsp, nothing);
    recipe.read_register(other, kEip, nothing);
    recipe.subtract(other, other, system_call_.start.value);
    recipe.go_if_less(at, kBehindLinearMap + 1, on_task_stack);
    recipe.go_if_not_less(other, system_call_.size, by_hardware);
    recipe.read_register(sp, kEcx, nothing);
    recipe.go_if_not_less(other, system_call_.entry_path, found);

    recipe.bind(on_task_stack);
    recipe.go_if_not_less(other, system_call_.entry_path, behind);
    recipe.read_register(sp, kEbp, nothing);
    recipe.go(found);

    recipe.bind(behind);  // `rep movsl` may be moving registers from the entry stack
    recipe.read_register(other, kEdi, nothing);
    recipe.subtract(other, other, at);
    recipe.go_if_not_less(other, pt_regs_.size, nothing);
    recipe.read_register(at, kEsi, nothing);
    recipe.go_if_less(at, kBehindLinearMap + 1, nothing);

    recipe.bind(by_hardware);
    if (!pages_) recipe.go(nothing);
    recipe.subtract(at, at, 1);
    recipe.mask(at, at, ~(kX86EntryStack - 1));
    recipe.load(sp, {at, kX86EntryStack - kEspBelowEnd}, kWord, nothing);
    recipe.bind(found);
  }

  [[nodiscard]] std::optional<arch::Registers> user_registers(const wire::Capture& capture,
                                                              const Copied& copied) const override {
    const GuestVirt sp{capture.registers.get(kEsp)};
    const GuestVirt pc{capture.registers.get(kEip)};
    if (system_call_.is_entry_path(pc)) return of_sysenter(capture, copied, sp);
    if (is_on_entry_stack(sp)) return on_entry_stack(capture, copied, sp, pc);
    if (copied.saved == nullptr) return std::nullopt;
    const GuestVirt frame = copied.saved->address;
    auto registers = with_saved(capture.registers, capture, pt_regs_.frame, frame);
    if (const auto moving = place_of_moving(capture, frame, sp))
      registers = with_saved(registers, capture, pt_regs_.frame, moving->frame, moving->next);
    if (registers.get(kEip) == 0) return at_landing_pad(registers, copied);
    return registers;
  }

 private:
  struct Moving {
    GuestVirt frame;
    GuestVirt next;  // what is there, and above it, has not been moved yet
  };
  // `rep movsl` moves the registers to the task's stack, whose pointer is there already
  // (SWITCH_TO_KERNEL_STACK).
  [[nodiscard]] std::optional<Moving> place_of_moving(const wire::Capture& capture, GuestVirt frame,
                                                      GuestVirt sp) const {
    const GuestVirt next{capture.registers.get(kEsi)};
    const std::uint64_t moved = capture.registers.get(kEdi) - frame.value;
    if (sp != frame || moved >= pt_regs_.size || !is_on_entry_stack(next)) return std::nullopt;
    return Moving{next - moved, next};
  }

  [[nodiscard]] std::optional<arch::Registers> at_landing_pad(arch::Registers registers,
                                                              const Copied& copied) const {
    if (!landing_pad_ || !copied.vdso || !registers.has(kEbp)) return std::nullopt;
    registers.set(kEip, copied.vdso->value + *landing_pad_);
    registers.set(kEsp, registers.get(kEbp));
    registers.set(kCs, kUserCs);
    return registers;
  }

  [[nodiscard]] std::optional<arch::Registers> of_sysenter(const wire::Capture& capture,
                                                           const Copied& copied,
                                                           GuestVirt sp) const {
    if (is_on_entry_stack(sp) || copied.saved == nullptr)
      return at_landing_pad(capture.registers, copied);
    return at_landing_pad(
        with_saved(capture.registers, capture, pt_regs_.frame, copied.saved->address, sp), copied);
  }

  [[nodiscard]] std::optional<arch::Registers> on_entry_stack(const wire::Capture& capture,
                                                              const Copied& copied, GuestVirt sp,
                                                              GuestVirt pc) const {
    if (system_call_.has(pc)) {
      // As long as the kernel is mapped, what was saved is there too.
      if (copied.saved != nullptr)
        return with_saved(capture.registers, capture, pt_regs_.frame, copied.saved->address);
      arch::Registers registers = capture.registers;
      registers.set(kEip, registers.get(kEdx));
      registers.set(kEsp, registers.get(kEcx));
      registers.set(kCs, kUserCs);
      return registers;
    }
    const GuestVirt end = end_of_x86_entry_stack(sp);
    if (!pages_ || end - sp < kFrameBytes) return std::nullopt;
    return with_saved(capture.registers, capture, pt_regs_.frame, end - pt_regs_.size, sp);
  }

  UserRegisters pt_regs_;
  bool pages_;
  std::optional<std::uint32_t> landing_pad_;
  EntryFunction system_call_;
};

}  // namespace

std::unique_ptr<EntryCode> i386_entry_code(const elf::Image& kernel, const UserRegisters& pt_regs,
                                           const TypeSource& types) {
  return std::make_unique<I386EntryCode>(kernel, pt_regs, types);
}

}  // namespace ringside::guestos
