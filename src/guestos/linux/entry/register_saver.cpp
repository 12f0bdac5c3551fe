#include "guestos/linux/entry/register_saver.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::guestos {

using unwind::link_register::Instruction;
using unwind::link_register::Operation;

std::optional<RegisterSaver> register_saver(const elf::Image& kernel, const char* symbol,
                                            std::uint64_t bytes,
                                            const unwind::RegisterFrame& pt_regs,
                                            const unwind::link_register::Decoder& decoder) {
  const auto start = kernel.file->symbol_named(symbol);
  if (!start) return std::nullopt;
  const Bytes code = kernel.file->bytes_at(start->address, bytes);
  const std::uint8_t sp = arch::roles_of(kernel.file->arch()).sp;
  RegisterSaver saver{.start = kernel.to_guest(start->address)};
  const auto store = [&](std::uint8_t from, std::int64_t place, std::uint64_t done) {
    for (std::size_t reg = 0; reg < arch::kRegisterCount; ++reg) {
      if (pt_regs.offsets[reg] != place || saver.saved_at[reg] != 0) continue;
      saver.size = saver.saved_at[reg] = done;
      if (reg == sp) saver.sp_register = from;
    }
  };
  for (std::uint64_t at = 0; at < code.size();) {
    const Instruction instruction = decoder.decode(code.subspan(at), start->address + at);
    at += instruction.size;
    // The call goes to C code, for which all registers are saved.
    if (instruction.operation == Operation::kCall && saver.size != 0) break;
    if (instruction.operation != Operation::kStore) continue;
    if (instruction.b != sp && instruction.a == sp && saver.size == 0)
      saver.sp_scratch_offset = static_cast<std::uint64_t>(instruction.value);
    if (instruction.b != sp) continue;
    if (instruction.a < arch::kRegisterCount) store(instruction.a, instruction.value, at);
    if (instruction.c < arch::kRegisterCount) store(instruction.c, instruction.value + 8, at);
  }
  if (saver.sp_register == arch::RegisterRoles::kNone) return std::nullopt;
  for (std::uint64_t& at : saver.saved_at)
    if (at == 0) at = saver.size;
  return saver;
}

arch::Registers RegisterSaver::with_saved(const arch::Registers& registers,
                                          const wire::Capture& capture,
                                          const unwind::RegisterFrame& pt_regs,
                                          GuestVirt pc) const {
  unwind::RegisterFrame saved = pt_regs;
  for (std::size_t reg = 0; reg < arch::kRegisterCount; ++reg)
    if (pc - start < saved_at[reg]) saved.offsets[reg] = unwind::RegisterFrame::kNotSaved;
  const GuestVirt frame{capture.registers.get(arch::roles_of(capture.arch).sp)};
  return guestos::with_saved(registers, capture, saved, frame);
}

}  // namespace ringside::guestos
