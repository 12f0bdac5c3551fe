#include "guestos/user_interrupts/trap_vector.h"

#include <array>
#include <compare>
#include <optional>
#include <set>

#include "arch/registers.h"
#include "base/little_endian.h"
#include "unwind/riscv64/decoder.h"

namespace ringside::guestos {
namespace {

using unwind::link_register::Instruction;
using unwind::link_register::Operation;

constexpr std::size_t kMostSteps = 1024;
constexpr std::uint64_t kInterrupt = std::uint64_t{1} << 63;
// RISC-V privileged specification, table 12.2: a supervisor's interrupts of software, timers,
// devices and counters; and all exceptions.
constexpr std::array<std::uint64_t, 4> kInterrupts{1, 5, 9, 13};
constexpr std::uint64_t kExceptions = 20;
constexpr std::uint64_t kVectored = 1;
constexpr std::uint64_t kModes = 3;

// Whether it reads scause: csrrs without a source.
bool reads_cause(Bytes bytes) {
  if (bytes.size() < sizeof(std::uint32_t)) return false;
  const auto word = load<std::uint32_t>(bytes, 0);
  return (word & 0x000ff07f) == 0x00002073 && word >> 20 == 0x142;
}

// Follows an entry's code to all of its first calls.
class SavedCause {
 public:
  explicit SavedCause(const elf::ElfFile& file) : file_(file) {}

  // Where it stores the cause, from the stack pointer at each of these calls, bytes; nothing where
  // it does not, or where not all ways are known.
  [[nodiscard]] std::optional<std::int64_t> find(ImageAddr entry) {
    waiting_.push_back({.at = entry});
    for (std::size_t i = 0; i < kMostSteps; ++i) {
      if (waiting_.empty()) return place_;
      const State state = waiting_.back();
      waiting_.pop_back();
      if (seen_.insert(state).second && !step(state)) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // Before an instruction.
  struct State {
    ImageAddr at;
    std::uint32_t holds_cause = 0;  // registers, by bit
    std::optional<std::int64_t> place = std::nullopt;
    auto operator<=>(const State&) const = default;
  };

  // False where the way on is not known, or a call has no place or another one.
  [[nodiscard]] bool step(const State& state) {
    const Bytes bytes = file_.bytes_at(state.at, sizeof(std::uint32_t));
    const Instruction instruction = decoder_.decode(bytes, state.at);
    State next = state;
    next.at = state.at + instruction.size;
    switch (instruction.operation) {
      case Operation::kCall: {
        const bool is_same = state.place && (!place_ || place_ == state.place);
        place_ = state.place;
        return is_same;
      }
      case Operation::kJump:
        if (instruction.target) go(next, *instruction.target);
        return instruction.target.has_value();
      case Operation::kBranch:
        if (!instruction.target) return false;
        go(next, *instruction.target);
        break;
      case Operation::kJumpIndirect:
      case Operation::kRet:
        return false;
      case Operation::kInterruptRet:
      case Operation::kTrap:
      case Operation::kStop:
        return true;
      default:
        note(instruction, reads_cause(bytes), next);
    }
    waiting_.push_back(next);
    return true;
  }

  void go(State next, ImageAddr to) {
    next.at = to;
    waiting_.push_back(next);
  }

  static void note(const Instruction& instruction, bool is_cause, State& state) {
    using arch::riscv64::kSp;
    const bool is_store = instruction.operation == Operation::kStore && instruction.b == kSp;
    const bool stores_cause =
        is_store && instruction.a < 32 && (state.holds_cause >> instruction.a & 1) != 0;
    if (stores_cause)
      state.place = instruction.value;
    else if (is_store && state.place == instruction.value)
      state.place.reset();
    state.holds_cause &= ~instruction.writes;
    if (is_cause) state.holds_cause |= instruction.writes;
    if ((instruction.writes >> kSp & 1) != 0) state.place.reset();
  }

  const elf::ElfFile& file_;
  unwind::riscv64::Decoder decoder_;
  std::vector<State> waiting_;
  std::set<State> seen_;
  std::optional<std::int64_t> place_;  // at the calls that were reached
};

}  // namespace

std::vector<KernelEntry> entries_of_trap_vector(const elf::Image& kernel, std::uint64_t stvec) {
  const GuestVirt base{stvec & ~kModes};
  if (!kernel.file->is_code(kernel.to_image(base))) return {};
  const auto place_at = [&](GuestVirt at) {
    return SavedCause(*kernel.file).find(kernel.to_image(at));
  };
  std::vector<KernelEntry> entries;
  const auto add = [&](GuestVirt at, std::uint64_t cause, std::optional<std::int64_t> place) {
    KernelEntry entry{.address = at, .is_interrupts = (cause & kInterrupt) != 0};
    if (place)
      entry.pushed.push_back(
          {.from = PushedWord::From::kStackPointer, .offset = *place, .value = cause});
    entries.push_back(std::move(entry));
  };
  const auto place = place_at(base);
  for (std::uint64_t code = 0; code < kExceptions; ++code) add(base, code, place);
  for (const std::uint64_t code : kInterrupts) {
    if ((stvec & kModes) != kVectored) {
      add(base, kInterrupt | code, place);
      continue;
    }
    const GuestVirt at = base + 4 * code;
    add(at, kInterrupt | code, place_at(at));
  }
  return entries;
}

}  // namespace ringside::guestos
