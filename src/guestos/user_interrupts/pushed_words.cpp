#include "guestos/user_interrupts/pushed_words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "arch/arch_info.h"

namespace ringside::guestos {
namespace {

using unwind::x86::Instruction;
using unwind::x86::Operand;
using unwind::x86::Operation;

constexpr std::size_t kMostInstructions = 16;
constexpr std::uint64_t kLargestFunction = 64 * 1024;
constexpr std::size_t kLongestInstruction = 15;  // Intel SDM volume 2, 2.3.11

// Hardware pushes an error code below the pc (Intel SDM volume 3, table 6-1; the last two: AMD64
// Architecture Programmer's Manual volume 2, 8.2).
bool has_error_code(unsigned vector) {
  constexpr std::array<unsigned, 10> kVectors{8, 10, 11, 12, 13, 14, 17, 21, 29, 30};
  return std::find(kVectors.begin(), kVectors.end(), vector) != kVectors.end();
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
      if (instruction.from.kind == Operand::Kind::kImmediate)
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

ImageAddr PushedWords::first_push(ImageAddr last) {
  const auto& symbols = file_.symbols();
  const auto next = std::upper_bound(
      symbols.begin(), symbols.end(), last,
      [](ImageAddr to, const elf::FunctionSymbol& symbol) { return to < symbol.address; });
  if (next == symbols.begin() || last - std::prev(next)->address > kLargestFunction) return last;
  std::optional<ImageAddr> first;
  for (ImageAddr at = std::prev(next)->address; at <= last;) {
    const Instruction instruction = decode(at);
    const bool pushes = instruction.operation == Operation::kPush &&
                        instruction.from.kind == Operand::Kind::kImmediate;
    if (!pushes && at < last) first.reset();
    if (pushes && !first) first = at;
    at = at + instruction.size;
  }
  return first.value_or(last);
}

Instruction PushedWords::decode(ImageAddr at) {
  return decoder_.decode(file_.bytes_at(at, kLongestInstruction), at);
}

}  // namespace ringside::guestos
