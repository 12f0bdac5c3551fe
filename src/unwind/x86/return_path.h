#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "elf/image_map.h"
#include "unwind/machine_state.h"
#include "unwind/stack_memory.h"
#include "unwind/x86/decoder.h"
#include "unwind/x86/interrupt_frame.h"

namespace ringside::unwind::x86 {

// How the code that a frame is in will leave it.
struct ReturnPath {
  enum class Kind : std::uint8_t {
    kReturn,     // `state` is the caller's
    kInterrupt,  // `state` is that of the interrupted code, `frame` what iretq pops
    kSystem,     // sysret, sysexit: to user code
    kMissing,    // leads to memory that was not copied: `miss`
  };
  Kind kind = Kind::kReturn;
  MachineState state = {};
  InterruptFrame frame = {};
  std::optional<Miss> miss = std::nullopt;
  bool stack_switched = false;
};

// Finds a frame's caller by doing what its code is about to do: instructions are followed from the
// pc on, with the capture's registers and memory, to the `ret`, `iretq` or `sysret` that ends them.
// Only what moves registers between each other and the stack, and simple arithmetic, is carried
// out; calls are stepped over, everything else makes the registers that it writes unknown. At a
// conditional jump both ways are tried, first the one that known flags lead to. So epilogues,
// assembly without frames, and entry stubs with their stack switches
// (`pop %rsp`) give the exact caller with all registers that they restore, without guessing.
// Bounded to a thousand instructions.
//
// A value that is not known (loaded from memory that was not copied, left by a call) is a number of
// its own in a range that is no address, so that what is stored through it can be loaded again: an
// entry stub saves the old stack pointer at the top of a stack whose address only the guest knows.
class ReturnPathFinder {
 public:
  ReturnPathFinder(const elf::ImageMap& images, const Platform& platform, Decoder& decoder)
      : images_(images), platform_(platform), roles_(platform.roles), decoder_(decoder) {}

  // The first path that ends well; else kMissing if one led out of the copied memory; else nothing.
  // `image` holds the pc.
  [[nodiscard]] std::optional<ReturnPath> find(const elf::Image& image, const MachineState& state,
                                               const StackMemory& memory);

  void forget() { decoded_.clear(); }

 private:
  struct Write {
    GuestVirt at;
    std::uint64_t value;
  };
  // What a comparison left: whether its result was 0, and whether it borrowed.
  struct Flags {
    bool zero = false;
    bool carry = false;
  };
  struct Path {
    MachineState state;
    std::vector<Write> writes;
    std::optional<Flags> flags = std::nullopt;
    bool stack_switched = false;
  };
  enum class Outcome : std::uint8_t { kGoOn, kDead, kDone };

  [[nodiscard]] const Instruction& decode(const elf::Image& image, GuestVirt at);
  [[nodiscard]] Outcome execute(const Instruction& instruction, Path& path,
                                const StackMemory& memory);
  void calculate(const Instruction& instruction, Path& path, const StackMemory& memory);
  void copy_words(Path& path, const StackMemory& memory);
  [[nodiscard]] bool stack_operation(const Instruction& instruction, Path& path,
                                     const StackMemory& memory);
  [[nodiscard]] std::optional<std::uint64_t> value_of(const Operand& operand, const Path& path,
                                                      const StackMemory& memory);
  void push(std::uint64_t value, Path& path);
  [[nodiscard]] Outcome finish_interrupt(const Path& path, const StackMemory& memory);
  [[nodiscard]] Outcome finish(const Instruction& instruction, const Path& path,
                               const StackMemory& memory);
  [[nodiscard]] std::optional<std::uint64_t> load(const Path& path, GuestVirt at,
                                                  const StackMemory& memory);
  void load_register(std::uint8_t reg, GuestVirt from, Path& path, const StackMemory& memory);
  [[nodiscard]] std::uint64_t unknown();
  void note_miss(const Path& path, GuestVirt at, const StackMemory& memory);

  // An address, or an unknown value, with an offset.
  [[nodiscard]] std::uint64_t add(std::uint64_t value, std::uint64_t offset) const;

  const elf::ImageMap& images_;
  const Platform& platform_;
  const wire::RegisterRoles& roles_;
  Decoder& decoder_;
  std::unordered_map<std::uint64_t, Instruction> decoded_;  // by guest address
  ReturnPath result_;
  std::optional<Miss> miss_;
  std::uint64_t unknowns_ = 0;
};

}  // namespace ringside::unwind::x86
