#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/registers.h"
#include "wire/capture.h"

// A capture recipe: a bounded little program that says which memory to copy, written by a guest-OS
// adapter and interpreted by every engine. Jumps go forward only, so it ends after at most `size`
// operations. FORMAT.md describes the operations byte for byte.

namespace ringside::wire {

enum class RecipeOpcode : std::uint8_t {
  kEnd,       // stop
  kSet,       // slot[dst] = imm
  kRegister,  // slot[dst] = register[a]; skips `skip` operations where the register was not read
  kAdd,       // slot[dst] = slot[a] + imm
  kSubtract,  // slot[dst] = slot[a] - slot[b]
  kMask,      // slot[dst] = slot[a] & imm
  kLoad,      // slot[dst] = b bytes (4 or 8; 0 is 8) at slot[a] + imm, little endian; skips `skip`
              // operations where they are not mapped
  kSkipIfLess,  // skips `skip` operations if slot[a] < imm, unsigned
  kSkipIfNotLess,
  kSkipIfEqual,
  kSkipIfNotEqual,
  kCopyStack,  // copy from slot[a] up; as many bytes as the engine's budget for the piece kind in
               // `b`, and not beyond the next multiple of imm (0: of nothing), where the stack ends
  kCopy,       // copy imm bytes from slot[a] up; the piece kind is in `b`
  kShiftRight,   // slot[dst] = slot[a] >> imm; 0 where imm is more than 63
  kShiftLeft,    // slot[dst] = slot[a] << imm; the same
  kAddSlots,     // slot[dst] = slot[a] + slot[b]
  kCopyStackAt,  // a part of a stack, where its bytes are mapped at another address too: as from
                 // slot[a] up, but read at slot[dst]; up to the next multiple of imm (0: no such
                 // limit), and as many bytes as earlier parts have left of the budget for the piece
                 // kind in `b`; skips `skip` operations where that is used up then
};

struct RecipeOp {
  RecipeOpcode opcode = RecipeOpcode::kEnd;
  std::uint8_t dst = 0;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint32_t skip = 0;
  std::uint64_t imm = 0;
};
static_assert(sizeof(RecipeOp) == 16);

inline constexpr std::size_t kRecipeSlots = 8;
inline constexpr std::uint32_t kMaxStackBytes = 64 * 1024;

// How much a run of a recipe may read.
struct RecipeBudget {
  std::uint32_t loads = 64;
  std::uint32_t bytes = 3 * kMaxStackBytes;
  std::array<std::uint32_t, kPieceKindCount> stack_bytes{2048, 2048, 2048, 8, 0};
};

struct MemoryRequest {
  GuestVirt address;  // that the piece is recorded under
  GuestVirt read_at;
  std::uint32_t size;
  PieceKind why;
  bool is_load;  // the run cannot go on before loaded() has been called
};

// One run of a recipe, resumable, so that an engine can put the reads of all vCPUs into one round
// trip:
//   while (auto request = run.next()) { … if (request->is_load) { read; run.loaded(value); } }
class RecipeRun {
 public:
  RecipeRun(std::span<const RecipeOp> recipe, const arch::Registers& registers,
            const RecipeBudget& budget)
      : recipe_(recipe), registers_(&registers), budget_(budget) {}

  // The next read, nothing when the recipe has ended. Not to be called between a load and its
  // loaded().
  [[nodiscard]] std::optional<MemoryRequest> next() {
    while (at_ < recipe_.size()) {
      const RecipeOp& op = recipe_[at_++];
      if (op.dst >= kRecipeSlots || op.a >= slots_limit(op) || (uses_b(op) && op.b >= kRecipeSlots))
        return end();
      switch (op.opcode) {
        case RecipeOpcode::kEnd:
          return end();
        case RecipeOpcode::kSet:
          slots_[op.dst] = op.imm;
          break;
        case RecipeOpcode::kRegister:
          if (registers_->has(op.a))
            slots_[op.dst] = registers_->get(op.a);
          else
            at_ += op.skip;
          break;
        case RecipeOpcode::kAdd:
          slots_[op.dst] = slots_[op.a] + op.imm;
          break;
        case RecipeOpcode::kSubtract:
          slots_[op.dst] = slots_[op.a] - slots_[op.b];
          break;
        case RecipeOpcode::kMask:
          slots_[op.dst] = slots_[op.a] & op.imm;
          break;
        case RecipeOpcode::kLoad:
          if (budget_.loads == 0 || (op.b != 0 && op.b != 4 && op.b != 8)) return end();
          --budget_.loads;
          load_ = &op;
          return load(GuestVirt{slots_[op.a] + op.imm}, op.b == 4 ? 4u : 8u);
        case RecipeOpcode::kSkipIfLess:
          if (slots_[op.a] < op.imm) at_ += op.skip;
          break;
        case RecipeOpcode::kSkipIfNotLess:
          if (slots_[op.a] >= op.imm) at_ += op.skip;
          break;
        case RecipeOpcode::kSkipIfEqual:
          if (slots_[op.a] == op.imm) at_ += op.skip;
          break;
        case RecipeOpcode::kSkipIfNotEqual:
          if (slots_[op.a] != op.imm) at_ += op.skip;
          break;
        case RecipeOpcode::kCopyStack:
        case RecipeOpcode::kCopy:
          if (auto request = copy(op)) return request;
          break;
        case RecipeOpcode::kShiftRight:
          slots_[op.dst] = op.imm < 64 ? slots_[op.a] >> op.imm : 0;
          break;
        case RecipeOpcode::kShiftLeft:
          slots_[op.dst] = op.imm < 64 ? slots_[op.a] << op.imm : 0;
          break;
        case RecipeOpcode::kAddSlots:
          slots_[op.dst] = slots_[op.a] + slots_[op.b];
          break;
        case RecipeOpcode::kCopyStackAt:
          if (auto request = copy_part(op)) return request;
          break;
        default:
          return end();
      }
    }
    return std::nullopt;
  }

  // The answer to a load; nothing where the memory is not mapped.
  void loaded(std::optional<std::uint64_t> value) {
    if (value)
      slots_[load_->dst] = *value;
    else
      at_ += load_->skip;
  }

 private:
  [[nodiscard]] static std::size_t slots_limit(const RecipeOp& op) {
    return op.opcode == RecipeOpcode::kRegister ? arch::kRegisterCount : kRecipeSlots;
  }
  [[nodiscard]] static bool uses_b(const RecipeOp& op) {
    return op.opcode == RecipeOpcode::kSubtract || op.opcode == RecipeOpcode::kAddSlots;
  }

  [[nodiscard]] std::optional<MemoryRequest> end() {
    at_ = recipe_.size();
    return std::nullopt;
  }

  [[nodiscard]] static MemoryRequest load(GuestVirt at, std::uint32_t size) {
    return {at, at, size, PieceKind::kStackLink, true};
  }

  [[nodiscard]] std::optional<MemoryRequest> copy(const RecipeOp& op) {
    if (op.b >= kPieceKindCount) return end();
    std::uint64_t size = op.opcode == RecipeOpcode::kCopy ? op.imm : budget_.stack_bytes[op.b];
    if (op.opcode == RecipeOpcode::kCopyStack && op.imm != 0)
      size = std::min(size, (0 - slots_[op.a]) % op.imm);
    return copy_request(op, GuestVirt{slots_[op.a]}, size);
  }

  [[nodiscard]] std::optional<MemoryRequest> copy_part(const RecipeOp& op) {
    if (op.b >= kPieceKindCount) return end();
    std::uint32_t& left = budget_.stack_bytes[op.b];
    std::uint64_t size = left;
    if (op.imm != 0) size = std::min(size, op.imm - slots_[op.a] % op.imm);
    size = std::min<std::uint64_t>(size, budget_.bytes);
    left -= static_cast<std::uint32_t>(size);
    if (left == 0 || size == budget_.bytes) at_ += op.skip;
    return copy_request(op, GuestVirt{slots_[op.dst]}, size);
  }

  [[nodiscard]] std::optional<MemoryRequest> copy_request(const RecipeOp& op, GuestVirt read_at,
                                                          std::uint64_t size) {
    if (size > budget_.bytes) size = budget_.bytes;
    if (size == 0) return std::nullopt;
    budget_.bytes -= static_cast<std::uint32_t>(size);
    return MemoryRequest{GuestVirt{slots_[op.a]}, read_at, static_cast<std::uint32_t>(size),
                         static_cast<PieceKind>(op.b), false};
  }

  std::span<const RecipeOp> recipe_;
  const arch::Registers* registers_;
  RecipeBudget budget_;
  std::array<std::uint64_t, kRecipeSlots> slots_{};
  std::size_t at_ = 0;
  const RecipeOp* load_ = nullptr;
};

}  // namespace ringside::wire
