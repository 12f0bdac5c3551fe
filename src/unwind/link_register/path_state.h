#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/arch_info.h"
#include "unwind/link_register/instruction.h"
#include "unwind/machine_state.h"
#include "unwind/stack_memory.h"

namespace ringside::unwind::link_register {

// A value as far as it is known: bits, or a distance from something unknown. A value stored through
// an unknown pointer can so be loaded again: riscv64's entry code saves the stack pointer in a task
// that was not copied.
struct Value {
  std::uint32_t unknown = 0;  // 0: the value is `bits`; else which unknown `bits` are added to
  std::uint64_t bits = 0;
  GuestVirt slot = {};  // where it was loaded from, 0 if it was not

  [[nodiscard]] bool known() const { return unknown == 0; }
};

// The registers and the memory on one way through code.
class PathState {
 public:
  // `system` holds the system registers that this code finds, those of `known` by bit.
  PathState(const MachineState& state, const arch::Registers& system, std::uint64_t known);

  // Everything that `instruction` does, but where it goes.
  void execute(const Instruction& instruction, const StackMemory& memory);
  // A called function gives back the registers that it has to. One that keeps its return address
  // elsewhere than in the link register gives that back, too.
  void return_from_call(const Instruction& call);

  [[nodiscard]] Value get(std::uint8_t reg) const;
  [[nodiscard]] const arch::ArchInfo& platform() const { return *platform_; }
  // Where an unknown value should have been loaded from.
  [[nodiscard]] std::optional<Miss> miss(const Value& value, const StackMemory& memory) const;
  // The general registers that are known, with `pc` in place of this code's.
  [[nodiscard]] MachineState machine_state(std::uint64_t pc, GuestVirt pc_slot) const;

 private:
  struct Word {
    Value at;
    Value value;
  };
  struct Origin {
    std::uint32_t unknown;
    GuestVirt at;
    GuestVirt slot;  // that the pointer to it came from
  };
  void set(std::uint8_t reg, const Value& value);
  [[nodiscard]] bool keeps_link_register(const Instruction& call) const;
  [[nodiscard]] Value make_unknown() { return {++unknowns_, 0, {}}; }
  void forget(std::uint32_t registers);
  [[nodiscard]] Value load(const Value& at, const StackMemory& memory);
  void store(const Value& at, const Value& value);
  void access(const Instruction& instruction, const StackMemory& memory);

  const arch::ArchInfo* platform_;
  std::array<Value, arch::kRegisterCount> registers_;
  std::vector<Word> words_;  // that this way has stored, or found to be unknown
  std::vector<Origin> origins_;
  std::uint32_t unknowns_ = 0;
};

}  // namespace ringside::unwind::link_register
