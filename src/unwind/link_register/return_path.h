#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "elf/image_map.h"
#include "unwind/link_register/path_state.h"

namespace ringside::unwind::link_register {

// How the code that a frame is in will leave it.
struct ReturnPath {
  enum class Kind : std::uint8_t {
    kReturn,     // `state` is the caller's
    kInterrupt,  // `state` is that of the interrupted code
    kUser,       // to user code
    kMissing,    // leads to memory that was not copied: `miss`
  };
  Kind kind = Kind::kReturn;
  MachineState state = {};
  std::optional<Miss> miss = std::nullopt;
};

// Finds a frame's caller by doing what its code is about to do, as x86_64's ReturnPathFinder does:
// instructions are followed from the pc on, with the capture's registers and memory, to the `ret`,
// `eret` or `sret` that ends them; calls are stepped over; at a conditional branch the way straight
// on is tried first, of a switch the first case. Each instruction is visited once, two thousand at
// most.
class ReturnPathFinder {
 public:
  ReturnPathFinder(const elf::ImageMap& images, const Decoder& decoder)
      : images_(images), decoder_(decoder) {}

  // The first way that ends well; else kMissing if one led out of the copied memory; else nothing.
  [[nodiscard]] std::optional<ReturnPath> find(const MachineState& state,
                                               const StackMemory& memory);

  // CodeStepper::never_returns.
  [[nodiscard]] bool never_returns(GuestVirt pc);

  void forget() { decoded_.clear(); }

 private:
  struct Way {
    GuestVirt at;
    PathState state;
    // The constant that was set last: on aarch64 compilers count a switch's cases from the first
    // one, which lies behind the jump (`adr x2, first; add x0, x2, w0, sxtb #2; br x0`).
    GuestVirt jump_table;
  };
  [[nodiscard]] const Instruction* decode(GuestVirt at);
  [[nodiscard]] std::optional<ReturnPath> follow(Way way, const StackMemory& memory);
  // Where an instruction that looks like a return goes on in the same frame.
  [[nodiscard]] std::optional<GuestVirt> jumps_to(const Instruction& instruction,
                                                  const PathState& state) const;
  [[nodiscard]] std::optional<ReturnPath> finish(const Instruction& instruction,
                                                 const PathState& state, const StackMemory& memory);

  const elf::ImageMap& images_;
  const Decoder& decoder_;
  std::unordered_map<std::uint64_t, Instruction> decoded_;  // by guest address
  std::unordered_set<std::uint64_t> visited_;
  std::vector<Way> others_;  // branches not taken yet
  std::optional<Miss> miss_;
};

}  // namespace ringside::unwind::link_register
