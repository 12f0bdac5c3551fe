#include "guestos/user_interrupts/trap_vector.h"

#include <array>
#include <optional>

#include "arch/registers.h"
#include "base/little_endian.h"
#include "unwind/riscv64/decoder.h"

namespace ringside::guestos {
namespace {

using unwind::link_register::Instruction;
using unwind::link_register::Operation;

constexpr std::size_t kMostInstructions = 128;
constexpr std::uint64_t kInterrupt = std::uint64_t{1} << 63;
// RISC-V privileged specification, tables 12.2 and 3.6: interrupts of software, timers and devices,
// for supervisor and machine mode, and of counters; and all exceptions.
constexpr std::array<std::uint64_t, 7> kInterrupts{1, 3, 5, 7, 9, 11, 13};
constexpr std::uint64_t kExceptions = 20;
constexpr std::uint64_t kVectored = 1;
constexpr std::uint64_t kModes = 3;

// Whether it reads scause or mcause: csrrs without a source.
bool reads_cause(Bytes bytes) {
  if (bytes.size() < sizeof(std::uint32_t)) return false;
  const auto word = load<std::uint32_t>(bytes, 0);
  const std::uint32_t number = word >> 20;
  return (word & 0x000ff07f) == 0x00002073 && (number == 0x142 || number == 0x342);
}

// Follows an entry's code to its first call.
class SavedCause {
 public:
  explicit SavedCause(const elf::ElfFile& file) : file_(file) {}

  // Where it stores the cause, from the stack pointer at the call, bytes; nothing where it does
  // not.
  [[nodiscard]] std::optional<std::int64_t> find(ImageAddr entry) {
    ImageAddr at = entry;
    for (std::size_t i = 0; i < kMostInstructions; ++i) {
      const Bytes bytes = file_.bytes_at(at, sizeof(std::uint32_t));
      const Instruction instruction = decoder_.decode(bytes, at);
      at = at + instruction.size;
      switch (instruction.operation) {
        case Operation::kCall:
          return place_;
        case Operation::kJump:
          if (!instruction.target) return std::nullopt;
          at = *instruction.target;
          break;
        case Operation::kJumpIndirect:
        case Operation::kRet:
        case Operation::kInterruptRet:
        case Operation::kTrap:
        case Operation::kStop:
          return std::nullopt;
        default:
          note(instruction, reads_cause(bytes));
      }
    }
    return std::nullopt;
  }

 private:
  void note(const Instruction& instruction, bool is_cause) {
    using arch::riscv64::kSp;
    const bool is_store = instruction.operation == Operation::kStore && instruction.b == kSp;
    if (is_store && instruction.a < 32 && (holds_cause_ >> instruction.a & 1) != 0)
      place_ = instruction.value;
    holds_cause_ &= ~instruction.writes;
    if (is_cause) holds_cause_ |= instruction.writes;
    if ((instruction.writes >> kSp & 1) != 0) place_.reset();
  }

  const elf::ElfFile& file_;
  unwind::riscv64::Decoder decoder_;
  std::uint32_t holds_cause_ = 0;  // registers, by bit
  std::optional<std::int64_t> place_;
};

}  // namespace

std::vector<KernelEntry> entries_of_trap_vector(const elf::Image& kernel, std::uint64_t stvec) {
  const GuestVirt base{stvec & ~kModes};
  if (!kernel.file->is_code(kernel.to_image(base))) return {};
  std::vector<KernelEntry> entries;
  const auto add = [&](GuestVirt at, std::uint64_t cause) {
    KernelEntry entry{.address = at, .is_interrupts = (cause & kInterrupt) != 0};
    if (const auto place = SavedCause(*kernel.file).find(kernel.to_image(at)))
      entry.pushed.push_back(
          {.from = PushedWord::From::kStackPointer, .offset = *place, .value = cause});
    entries.push_back(std::move(entry));
  };
  for (std::uint64_t code = 0; code < kExceptions; ++code) add(base, code);
  for (const std::uint64_t code : kInterrupts)
    add((stvec & kModes) == kVectored ? base + 4 * code : base, kInterrupt | code);
  return entries;
}

}  // namespace ringside::guestos
