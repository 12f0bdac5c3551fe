#include "unwind/x86/return_path.h"

namespace ringside::unwind::x86 {
namespace {

class CapturedMemory final : public PathMemory {
 public:
  explicit CapturedMemory(const StackMemory& memory) : memory_(memory) {}

  [[nodiscard]] std::optional<std::uint64_t> load(GuestVirt at, Unknowns&) override {
    return Unknowns::is_unknown(at.value) ? std::nullopt : memory_.read_pointer(at);
  }

 private:
  const StackMemory& memory_;
};

}  // namespace

std::optional<ReturnPath> ReturnPathFinder::find(const elf::Image& image, const MachineState& state,
                                                 const StackMemory& memory) {
  CapturedMemory captured(memory);
  Execution execution(platform_, captured);
  MachineState from = state;
  for (std::uint8_t reg = 0; reg < roles_.pc; ++reg)
    if (!from.has(reg)) from.set(reg, execution.unknown());
  std::optional<ReturnPath> result;
  const SearchEnd end = search(image, code_, execution, from, 0,
                               [&](const Instruction& instruction, const Path& path) {
                                 result = finish(instruction, path, execution, memory);
                                 return result.has_value();
                               });
  const auto& missing = execution.missing();
  if (end == SearchEnd::kFound) {
    if (result->kind == ReturnPath::Kind::kSystem && missing)
      result->miss = memory.explain(missing->at, missing->slot);
    return result;
  }
  if (!missing) return std::nullopt;
  return ReturnPath{.kind = ReturnPath::Kind::kMissing,
                    .miss = memory.explain(missing->at, missing->slot)};
}

std::optional<ReturnPath> ReturnPathFinder::finish(const Instruction& instruction, const Path& path,
                                                   Execution& execution,
                                                   const StackMemory& memory) {
  ReturnPath result{.state = path.state, .stack_switched = path.stack_switched};
  MachineState& state = result.state;
  if (instruction.operation == Operation::kSystemRet) return finish_system_call(std::move(result));
  forget_unknowns(state);
  if (instruction.operation == Operation::kInterruptRet)
    return finish_interrupt(std::move(result), path, execution, memory);
  const GuestVirt sp = path.state.sp();
  const auto address = execution.load(path, sp);
  if (!address || Unknowns::is_unknown(*address)) {
    execution.note_missing(path, sp);
    return std::nullopt;
  }
  if (*address != 0 && images_.find_code(GuestVirt{*address} - 1) == nullptr) return std::nullopt;
  result.kind = ReturnPath::Kind::kReturn;
  state.set(roles_.pc, *address, sp);
  state.set(roles_.sp, execution.add(sp.value, roles_.pointer_size +
                                                   static_cast<std::uint64_t>(instruction.value)));
  state.exact = false;
  return result;
}

// sysret in 64-bit code takes the pc from rcx; the stack pointer is what it is (Intel SDM volume
// 2B, "SYSRET"). sysexit takes both from registers, edx and ecx ("SYSEXIT").
ReturnPath ReturnPathFinder::finish_system_call(ReturnPath result) const {
  result.kind = ReturnPath::Kind::kSystem;
  MachineState& state = result.state;
  forget_unknowns(state);
  const bool is_64_bit = platform_.id == Arch::kX86_64;
  const auto take = [&state](std::uint8_t to, std::uint8_t from) {
    if (state.has(from))
      state.set(to, state.get(from), state.slots[from]);
    else
      state.forget(to);
  };
  if (!is_64_bit) take(roles_.sp, arch::i386::kEcx);
  take(roles_.pc, is_64_bit ? std::uint8_t{arch::x86_64::kRcx} : std::uint8_t{arch::i386::kEdx});
  state.exact = true;
  return result;
}

void ReturnPathFinder::forget_unknowns(MachineState& state) const {
  for (std::uint8_t reg = 0; reg < roles_.pc; ++reg)
    if (Unknowns::is_unknown(state.get(reg))) state.forget(reg);
}

std::optional<ReturnPath> ReturnPathFinder::finish_interrupt(ReturnPath result, const Path& path,
                                                             Execution& execution,
                                                             const StackMemory& memory) {
  const GuestVirt sp = path.state.sp();
  const auto frame =
      make_interrupt_frame(sp, platform_, [&](std::uint64_t i) -> std::optional<std::uint64_t> {
        const GuestVirt at{execution.add(sp.value, i * roles_.pointer_size)};
        const auto word = execution.load(path, at);
        if (!word) execution.note_missing(path, at);
        return word;
      });
  if (!frame || !is_plausible(*frame, memory.capture(), images_)) return std::nullopt;
  result.frame = *frame;
  result.kind = ReturnPath::Kind::kInterrupt;
  result.state.set(roles_.pc, frame->ip, sp);
  result.state.set(roles_.sp, frame->sp, frame->sp_slot);
  result.state.exact = true;
  return result;
}

}  // namespace ringside::unwind::x86
