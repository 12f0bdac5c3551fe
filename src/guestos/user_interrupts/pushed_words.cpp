#include "guestos/user_interrupts/pushed_words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "arch/arch_info.h"
#include "guestos/user_interrupts/code_flow.h"
#include "unwind/x86/padding.h"

namespace ringside::guestos {
namespace {

using unwind::x86::Instruction;
using unwind::x86::Operand;
using unwind::x86::Operation;

constexpr std::size_t kMostInstructions = 16;

// Hardware pushes an error code below the pc (Intel SDM volume 3, table 6-1; the last two: AMD64
// Architecture Programmer's Manual volume 2, 8.2).
bool has_error_code(unsigned vector) {
  constexpr std::array<unsigned, 10> kVectors{8, 10, 11, 12, 13, 14, 17, 21, 29, 30};
  return std::find(kVectors.begin(), kVectors.end(), vector) != kVectors.end();
}

bool pushes_constant(const Instruction& instruction) {
  return instruction.operation == Operation::kPush &&
         instruction.from.kind == Operand::Kind::kImmediate;
}

bool ends_flow(const Instruction& instruction) {
  switch (instruction.operation) {
    case Operation::kRet:
    case Operation::kInterruptRet:
    case Operation::kSystemRet:
    case Operation::kJump:
    case Operation::kJumpIndirect:
    case Operation::kTrap:
    case Operation::kStop:
      return true;
    default:
      return false;
  }
}

}  // namespace

PushedWords::PushedWords(const elf::ElfFile& file)
    : file_(file),
      word_(arch::roles_of(file.arch()).pointer_size),
      decoder_(arch::info_of(file.arch())) {}

std::vector<PushedWord> PushedWords::of(ImageAddr gate, unsigned vector) {
  const std::uint32_t sp = 1u << arch::roles_of(file_.arch()).sp;
  const std::uint64_t mask = arch::info_of(file_.arch()).address_mask();
  std::int64_t below = has_error_code(vector) ? word_ : 0;
  std::vector<PushedWord> words;
  ImageAddr at = gate;
  for (std::size_t i = 0; i < kMostInstructions; ++i) {
    const Instruction instruction = decode(at);
    at = at + instruction.size;
    if (instruction.operation == Operation::kPush) {
      below += word_;
      if (pushes_constant(instruction))
        words.push_back({.from = PushedWord::From::kUserPc,
                         .offset = -below,
                         .value = static_cast<std::uint64_t>(instruction.from.value) & mask});
    } else if (instruction.operation == Operation::kJump && instruction.target) {
      at = *instruction.target;
    } else if (instruction.operation != Operation::kOther || (instruction.writes & sp) != 0) {
      break;
    }
  }
  return words;
}

ConstantRun PushedWords::run_at(ImageAddr begin) {
  const std::uint64_t mask = arch::info_of(file_.arch()).address_mask();
  ConstantRun run{.begin = begin, .goes_to = begin};
  Instruction instruction = decode(begin);
  for (; pushes_constant(instruction) && run.values.size() < kMostInstructions;
       instruction = decode(run.goes_to)) {
    run.values.push_back(static_cast<std::uint64_t>(instruction.from.value) & mask);
    run.goes_to = run.goes_to + instruction.size;
  }
  if (instruction.operation == Operation::kJump && instruction.target)
    run.goes_to = *instruction.target;
  return run;
}

ConstantRun PushedWords::run_before(ImageAddr last) {
  using Begins = ConstantRun::Begins;
  const auto& symbols = file_.symbols();
  const auto next = std::upper_bound(
      symbols.begin(), symbols.end(), last,
      [](ImageAddr to, const elf::FunctionSymbol& symbol) { return to < symbol.address; });
  const bool has_function =
      next != symbols.begin() && last - std::prev(next)->address <= kLargestFunction;
  if (!has_function) return {.begin = last, .goes_to = last};
  std::optional<ImageAddr> first;
  Begins begins = Begins::kElsewhere;
  Begins now = Begins::kEntered;
  bool keeps_pc = file_.is_64();  // rcx is as at the entry, and nowhere else
  for (ImageAddr at = std::prev(next)->address; at <= last;) {
    const Instruction instruction = decode(at);
    const bool pushes = pushes_constant(instruction);
    if (!pushes && at < last) first.reset();
    if (pushes && !first) {
      first = at;
      begins = now;
    }
    const bool pushes_rcx =
        instruction.operation == Operation::kPush && instruction.a == arch::x86_64::kRcx;
    if (ends_flow(instruction))
      now = Begins::kEntered;
    else if (now != Begins::kEntered || !is_padding(at, instruction))
      now = keeps_pc && pushes_rcx ? Begins::kBehindPc : Begins::kElsewhere;
    const bool writes_rcx = (instruction.writes >> arch::x86_64::kRcx & 1) != 0;
    keeps_pc &= !pushes_rcx && !writes_rcx && instruction.operation != Operation::kCall;
    if (ends_flow(instruction)) keeps_pc = file_.is_64();
    at = at + instruction.size;
  }
  if (!first) return {.begin = last, .goes_to = last};
  ConstantRun run = run_at(*first);
  run.begins = begins;
  return run;
}

bool PushedWords::is_padding(ImageAddr at, const Instruction& instruction) const {
  return unwind::x86::ends_with_padding(file_.bytes_at(at, instruction.size));
}

Instruction PushedWords::decode(ImageAddr at) {
  return decoder_.decode(file_.bytes_at(at, kLongestInstruction), at);
}

}  // namespace ringside::guestos
