#pragma once

#include <array>
#include <optional>

#include "arch/arch_info.h"
#include "elf/image_map.h"
#include "guestos/linux/entry/entry_code.h"
#include "unwind/link_register/instruction.h"

namespace ringside::guestos {

// Entry code that saves a register after the other in the struct pt_regs at the stack pointer.
struct RegisterSaver {
  GuestVirt start;
  std::uint64_t size = 0;  // to behind the last that is saved
  // By register, bytes from the start to behind the instruction that stores what belongs in its
  // place; `size` where none does.
  std::array<std::uint64_t, arch::kRegisterCount> saved_at{};
  // The register from which user code's stack pointer is stored.
  std::uint8_t sp_register = arch::RegisterRoles::kNone;
  // Where that is put away before, from another register on.
  std::optional<std::uint64_t> sp_scratch_offset = {};

  [[nodiscard]] bool has(GuestVirt pc) const { return pc - start < size; }
  // `registers` as they are at `pc`, with what has been saved.
  [[nodiscard]] arch::Registers with_saved(const arch::Registers& registers,
                                           const wire::Capture& capture,
                                           const unwind::RegisterFrame& pt_regs,
                                           GuestVirt pc) const;
};

// The code from the symbol on, `bytes` at most. Nothing where it stores no stack pointer.
[[nodiscard]] std::optional<RegisterSaver> register_saver(
    const elf::Image& kernel, const char* symbol, std::uint64_t bytes,
    const unwind::RegisterFrame& pt_regs, const unwind::link_register::Decoder& decoder);

}  // namespace ringside::guestos
