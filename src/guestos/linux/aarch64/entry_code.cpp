#include "guestos/linux/aarch64/entry_code.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/little_endian.h"
#include "guestos/linux/aarch64/entries.h"
#include "guestos/linux/aarch64/trampoline.h"
#include "guestos/linux/entry/register_saver.h"
#include "unwind/aarch64/decoder.h"

namespace ringside::guestos {
namespace {

using namespace arch::aarch64;
using unwind::link_register::Instruction;
using unwind::link_register::Operation;

constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
constexpr std::uint64_t kInstruction = 4;  // bytes
// The last three before 5.14.
constexpr std::array<const char*, 7> kEntries{"el0t_64_sync",  "el0t_64_irq", "el0t_64_fiq",
                                              "el0t_64_error", "el0_sync",    "el0_irq",
                                              "el0_error"};
constexpr std::uint64_t kEntryBytes = 1024;  // until the registers are saved

// The table of vectors (Arm ARM, D1.10.2): 32 instructions each; those of 64-bit user code.
constexpr std::uint64_t kFirstUserVector = 8 * kAArch64VectorBytes;
constexpr std::uint64_t kUserVectorBytes = 4 * kAArch64VectorBytes;

Bytes code_of(const elf::ElfFile& kernel, ImageAddr start) {
  const auto& symbols = kernel.symbols();
  const auto next = std::find_if(symbols.begin(), symbols.end(),
                                 [&](const auto& symbol) { return symbol.address > start; });
  const std::uint64_t size =
      next == symbols.end() ? kEntryBytes : std::min(kEntryBytes, next->address - start);
  return kernel.bytes_at(start, size);
}

// arch/arm64/kernel/entry.S. User code's pc, status and stack pointer are in system registers until
// they are saved; the stack pointer's then holds the task. With page-table isolation the way to the
// vectors and from the kernel is over a trampoline, which keeps a register or two in system
// registers that are not in use.
class Aarch64EntryCode final : public EntryCode {
 public:
  Aarch64EntryCode(const elf::Image& kernel, const UserRegisters& pt_regs) : pt_regs_(pt_regs) {
    const unwind::aarch64::Decoder decoder;
    for (const char* name : kEntries)
      if (const auto saver = register_saver(kernel, name, kEntryBytes, pt_regs_.frame, decoder))
        savers_.push_back(*saver);
    if (const auto vectors = kernel.file->symbol_named("vectors"))
      vectors_ = kernel.to_guest(vectors->address) + kFirstUserVector;
    if (const auto exit_path = kernel.file->symbol_named("ret_to_user"))
      exit_path_ = kernel.to_guest(exit_path->address);
    exit_path_size_ = exit_path_ ? code_of(*kernel.file, kernel.to_image(*exit_path_)).size() : 0;
    trampoline_ = find_trampoline(*kernel.file);
    if (trampoline_) x29_restored_ = place_of_x29(kernel);
  }

  void find_user_stack(wire::RecipeBuilder& recipe, VcpuId, wire::RecipeBuilder::Slot sp,
                       wire::RecipeBuilder::Label nothing) const override {
    const auto at = recipe.slot();
    const auto found = recipe.label();
    recipe.read_register(sp, kSpEl0, nothing);
    recipe.go_if_less(sp, kKernelHalf, found);
    for (const RegisterSaver& saver : savers_) {
      const auto next = recipe.label();
      recipe.read_register(at, kPc, nothing);
      recipe.subtract(at, at, saver.start.value);
      recipe.go_if_not_less(at, saver.saved_at[kSp], next);
      recipe.read_register(sp, saver.sp_register, nothing);
      recipe.go(found);
      recipe.bind(next);
    }
    recipe.go(nothing);
    recipe.bind(found);
  }

  [[nodiscard]] std::optional<arch::Registers> user_registers(const wire::Capture& capture,
                                                              const Copied& copied) const override {
    const GuestVirt pc{capture.registers.get(kPc)};
    if (trampoline_ && pc - trampoline_->alias < trampoline_->bytes)
      return in_trampoline(capture, copied, pc - trampoline_->alias);
    if (vectors_ && pc - *vectors_ < kUserVectorBytes) {
      arch::Registers registers = by_system_registers(capture);
      registers.forget(kX0);  // used to test for an overflow
      // `mrs x30, tpidrro_el0` is behind a branch over it for where there is no trampoline.
      if ((pc - *vectors_) % kAArch64VectorBytes == kInstruction) take_from_scratch(registers);
      return registers;
    }
    for (const RegisterSaver& saver : savers_)
      if (saver.has(pc)) return while_saving(capture, saver, pc);
    const bool has_task = capture.registers.get(kSpEl0) >= kKernelHalf;
    const bool is_exit_path = exit_path_ && pc - *exit_path_ < exit_path_size_;
    if (copied.saved == nullptr || (!has_task && !is_exit_path)) return std::nullopt;
    // Where no entry was found in the code, it may be running and not have saved them yet.
    const std::uint64_t above = capture.registers.get(kSp) - copied.saved->address.value;
    if (savers_.empty() && above <= pt_regs_.size) return std::nullopt;
    return with_saved({}, capture, pt_regs_.frame, copied.saved->address);
  }

 private:
  // Behind `mrs x29, far_el1` of the exit path, from the trampoline's start; 0 where there is none.
  [[nodiscard]] std::uint64_t place_of_x29(const elf::Image& kernel) const {
    constexpr std::uint32_t kReadX29 = 0xd538601d;
    const Bytes code = kernel.file->bytes_at(trampoline_->code + trampoline_->exit,
                                             trampoline_->bytes - trampoline_->exit);
    for (std::uint64_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
      const auto word = load<std::uint32_t>(code, at);
      if (word == kReadX29) return trampoline_->exit + at + kInstruction;
    }
    return 0;
  }

  [[nodiscard]] static arch::Registers by_system_registers(const wire::Capture& capture) {
    arch::Registers registers = capture.registers;
    constexpr std::array<std::pair<std::uint8_t, std::uint8_t>, 3> kFrom{
        {{kPc, kElrEl1}, {kCpsr, kSpsrEl1}, {kSp, kSpEl0}}};
    for (const auto& [reg, from] : kFrom)
      if (registers.has(from))
        registers.set(reg, registers.get(from));
      else
        registers.forget(reg);
    return registers;
  }

  // x30, which the trampoline has put away.
  static void take_from_scratch(arch::Registers& registers) {
    if (registers.has(kTpidrroEl0))
      registers.set(kLr, registers.get(kTpidrroEl0));
    else
      registers.forget(kLr);
  }

  [[nodiscard]] std::optional<arch::Registers> in_trampoline(const wire::Capture& capture,
                                                             const Copied& copied,
                                                             std::uint64_t at) const {
    // As long as the kernel is mapped, what was saved is there.
    if (at >= trampoline_->exit && copied.saved != nullptr)
      return with_saved({}, capture, pt_regs_.frame, copied.saved->address);
    if (at >= trampoline_->exit && x29_restored_ == 0) return std::nullopt;
    arch::Registers registers = by_system_registers(capture);
    if (at < trampoline_->exit) {
      if (at % kAArch64VectorBytes != 0) take_from_scratch(registers);
    } else if (at < x29_restored_) {
      registers.forget(kFp);
      if (registers.has(kFarEl1)) registers.set(kFp, registers.get(kFarEl1));
    }
    return registers;
  }

  [[nodiscard]] std::optional<arch::Registers> while_saving(const wire::Capture& capture,
                                                            const RegisterSaver& saver,
                                                            GuestVirt pc) const {
    arch::Registers registers = by_system_registers(capture);
    if (registers.get(kSp) >= kKernelHalf)
      registers.set(kSp, capture.registers.get(saver.sp_register));
    return saver.with_saved(registers, capture, pt_regs_.frame, pc);
  }

  UserRegisters pt_regs_;
  std::vector<RegisterSaver> savers_;
  std::optional<GuestVirt> vectors_;  // of 64-bit user code
  std::optional<GuestVirt> exit_path_;
  std::uint64_t exit_path_size_ = 0;
  std::optional<Trampoline> trampoline_;
  std::uint64_t x29_restored_ = 0;
};

}  // namespace

std::optional<ImageAddr> aarch64_entry_task(const elf::ElfFile& kernel) {
  if (const auto symbol = kernel.symbol_named("__entry_task")) return symbol->address;
  std::optional<elf::DataSymbol> entry;
  for (const char* name : kEntries)
    if (!entry) entry = kernel.symbol_named(name);
  if (!entry) return std::nullopt;
  const Bytes code = code_of(kernel, entry->address);
  const unwind::aarch64::Decoder decoder;
  // `adrp x28, …; add x28, x28, …; ldr x28, [x28, x20]; msr sp_el0, x28`
  std::uint8_t reg = unwind::link_register::kNoRegister;
  std::optional<ImageAddr> page, address;
  for (std::uint64_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
    const Instruction instruction = decoder.decode(code.subspan(at), entry->address + at);
    if (instruction.operation == Operation::kSet) {
      reg = instruction.a;
      page = ImageAddr{static_cast<std::uint64_t>(instruction.value)};
      address.reset();
    } else if (instruction.operation == Operation::kAdd && page && instruction.a == reg &&
               instruction.b == reg) {
      address = *page + static_cast<std::uint64_t>(instruction.value);
    } else if (instruction.operation == Operation::kSystem && instruction.system == kSpEl0 &&
               instruction.b != unwind::link_register::kNoRegister) {
      return instruction.b == reg ? address : std::nullopt;
    }
  }
  return std::nullopt;
}

std::unique_ptr<EntryCode> aarch64_entry_code(const elf::Image& kernel,
                                              const UserRegisters& pt_regs) {
  return std::make_unique<Aarch64EntryCode>(kernel, pt_regs);
}

}  // namespace ringside::guestos
