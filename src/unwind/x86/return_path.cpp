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
  if (end == SearchEnd::kFound) return result;
  const auto& missing = execution.missing();
  if (!missing) return std::nullopt;
  return ReturnPath{.kind = ReturnPath::Kind::kMissing,
                    .miss = memory.explain(missing->at, missing->slot)};
}

std::optional<ReturnPath> ReturnPathFinder::finish(const Instruction& instruction, const Path& path,
                                                   Execution& execution,
                                                   const StackMemory& memory) {
  ReturnPath result{.state = path.state, .stack_switched = path.stack_switched};
  MachineState& state = result.state;
  if (instruction.operation == Operation::kSystemRet) {
    result.kind = ReturnPath::Kind::kSystem;
    return result;
  }
  for (std::uint8_t reg = 0; reg < roles_.pc; ++reg)
    if (Unknowns::is_unknown(state.get(reg))) state.forget(reg);
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
