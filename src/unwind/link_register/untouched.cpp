#include "unwind/link_register/untouched.h"

#include <array>

#include "arch/arch_info.h"

namespace ringside::unwind::link_register {
namespace {

constexpr std::uint64_t kMaxBytes = 4096;

bool changes(const Instruction& instruction, std::uint8_t reg) {
  const bool steps = instruction.step != 0 && instruction.b == reg;
  switch (instruction.operation) {
    case Operation::kSet:
    case Operation::kAdd:
    case Operation::kAddRegisters:
    case Operation::kSubtractRegisters:
    case Operation::kSystem:
      return instruction.a == reg;
    case Operation::kStore:
      return steps;
    case Operation::kLoad:
      return steps || instruction.a == reg || instruction.c == reg;
    case Operation::kCall:
      return true;
    default:
      return (instruction.writes >> reg & 1u) != 0;
  }
}

bool copies_link(const Instruction& instruction, const arch::ArchInfo& platform) {
  return copies_link_register(platform) && instruction.operation == Operation::kAdd &&
         instruction.a == kCopyOfLinkRegister && instruction.b == platform.roles.link &&
         instruction.value == 0;
}

}  // namespace

std::optional<MachineState> untouched_caller(const MachineState& state, const elf::Image& image,
                                             const CodeUnit& function, const Decoder& decoder) {
  const arch::RegisterRoles& roles = state.platform->roles;
  if (!state.has(roles.link) || !state.has_sp()) return std::nullopt;
  const CodeRange& range = function.ranges.front();
  const ImageAddr pc = image.to_image(state.pc());
  if (!range.contains(pc)) return std::nullopt;
  if (pc - range.start > kMaxBytes) return std::nullopt;
  const Bytes bytes = image.file->bytes_at(range.start, pc - range.start);
  if (bytes.size() != pc - range.start) return std::nullopt;
  bool is_copied = false;  // by the instruction before
  for (std::size_t at = 0; at < bytes.size();) {
    const Instruction instruction = decoder.decode(bytes.subspan(at), range.start + at);
    const bool calls_tracer = is_copied && instruction.operation == Operation::kCall;
    for (const std::uint8_t reg : {roles.link, roles.sp, roles.fp})
      if (!calls_tracer && changes(instruction, reg)) return std::nullopt;
    is_copied = copies_link(instruction, *state.platform);
    at += instruction.size;
    // The called code has not given it back.
    if (calls_tracer && image.to_guest(range.start + at).value == state.get(roles.link))
      return std::nullopt;
  }
  const std::uint64_t to = state.platform->code_address(state.get(roles.link));
  MachineState caller = state;
  caller.exact = false;
  caller.set(roles.pc, to, state.slots[roles.link]);
  caller.valid &= roles.callee_saved | std::uint64_t{1} << roles.sp | std::uint64_t{1} << roles.pc;
  return caller;
}

}  // namespace ringside::unwind::link_register
