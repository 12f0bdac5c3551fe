#pragma once

#include <optional>
#include <vector>

#include "arch/arch_info.h"
#include "unwind/machine_state.h"
#include "unwind/x86/decoder.h"

namespace ringside::unwind::x86 {

// A value that is not known (loaded from memory that was not copied, left by a call) is a number of
// its own in a range that is no address, so that what is stored through it can be loaded again: an
// entry stub saves the old stack pointer at the top of a stack whose address only the guest knows.
// There is room for displacements between two of them.
class Unknowns {
 public:
  enum class Kind : std::uint8_t {
    kPlain,
    kLost,  // left by a call, or an instruction of unknown effect: no memory holds it
  };
  static constexpr std::uint64_t kLimit = 0x3fff;  // so many of a kind are different

  [[nodiscard]] std::uint64_t make(Kind kind = Kind::kPlain) {
    const std::uint64_t number = made_++ % kLimit + 1;
    return kFirst + (kind == Kind::kLost ? number + kLimit : number) * kStep;
  }
  [[nodiscard]] std::uint64_t made() const { return made_; }

  [[nodiscard]] static bool is_unknown(std::uint64_t value) { return value >> 48 == kFirst >> 48; }
  [[nodiscard]] static bool is_lost(std::uint64_t value) {
    return is_unknown(value) && root(value) - kFirst > kLimit * kStep;
  }
  // The number without its displacement.
  [[nodiscard]] static std::uint64_t root(std::uint64_t value) {
    return (value + kStep / 2) & ~(kStep - 1);
  }

 private:
  static constexpr std::uint64_t kFirst = std::uint64_t{0x5eed} << 48;  // not canonical
  static constexpr std::uint64_t kStep = std::uint64_t{1} << 32;
  std::uint64_t made_ = 0;
};

// One way through code: the registers, all of them, and what has been stored.
struct Path {
  struct Write {
    GuestVirt at;
    std::uint64_t value;
  };
  // Flags after a comparison: whether its result was 0, and whether it borrowed.
  struct Flags {
    bool zero = false;
    bool carry = false;
  };
  MachineState state = {};
  std::vector<Write> writes = {};
  std::optional<Flags> flags = std::nullopt;
  bool stack_switched = false;

  // Whether a branch is taken; nothing where it is not known.
  [[nodiscard]] std::optional<bool> takes(Condition condition) const;
};

// The memory that a path begins with.
class PathMemory {
 public:
  virtual ~PathMemory() = default;
  // A word; nothing where it is not known. `at` may be an unknown value.
  [[nodiscard]] virtual std::optional<std::uint64_t> load(GuestVirt at, Unknowns& unknowns) = 0;
};

// Carries out instructions: what moves registers between each other and the stack, and simple
// arithmetic. Calls are stepped over; everything else makes the registers that it writes unknown.
class Execution {
 public:
  Execution(const arch::ArchInfo& platform, PathMemory& memory)
      : platform_(platform), roles_(platform.roles), memory_(memory) {}

  enum class Outcome : std::uint8_t {
    kGoOn,
    kLeaves,  // ret, iret, sysret: not carried out
    kDead,    // nothing is known of what comes then
  };
  // Any instruction but kJump and kBranch. Leaves the pc as it is.
  [[nodiscard]] Outcome carry_out(const Instruction& instruction, Path& path);
  [[nodiscard]] std::optional<std::uint64_t> load(const Path& path, GuestVirt at);

  // An address, or an unknown value, with an offset.
  [[nodiscard]] std::uint64_t add(std::uint64_t value, std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t unknown() { return unknowns_.make(); }
  [[nodiscard]] const Unknowns& unknowns() const { return unknowns_; }

  // The first stack pointer that could not be loaded, and the slot that the stack pointer which
  // led there came from.
  struct Missing {
    GuestVirt at;
    GuestVirt slot;
  };
  [[nodiscard]] const std::optional<Missing>& missing() const { return missing_; }
  void note_missing(const Path& path, GuestVirt at);

 private:
  void calculate(const Instruction& instruction, Path& path);
  void copy_words(Path& path);
  [[nodiscard]] bool stack_operation(const Instruction& instruction, Path& path);
  // Nothing where the operand is no whole word.
  [[nodiscard]] std::optional<std::uint64_t> word_of(const Operand& operand, const Path& path);
  // Nothing where it is not known.
  [[nodiscard]] std::optional<std::uint64_t> value_of(const Operand& operand, const Path& path);
  [[nodiscard]] std::uint64_t stored(const Instruction& instruction, const Path& path);
  void push(std::uint64_t value, Path& path);
  void load_register(std::uint8_t reg, GuestVirt from, Path& path);
  void lose(std::uint64_t registers, Path& path);

  const arch::ArchInfo& platform_;
  const arch::RegisterRoles& roles_;
  PathMemory& memory_;
  Unknowns unknowns_;
  std::optional<Missing> missing_;
};

}  // namespace ringside::unwind::x86
