#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "arch/registers.h"
#include "arch/riscv64.h"
#include "wire/capture.h"
#include "wire/firmware_frame.h"
#include "wire/memory_request.h"
#include "wire/supervisor_memory.h"

// Capture recipes: bounded little programs that say which memory to copy, written by a guest-OS
// adapter (recipe_builder.h) and interpreted by every engine. Jumps go forward only, so a run ends
// after at most `size` operations. FORMAT.md describes the operations byte for byte.
//
// A program is one recipe or several, each but the last ended by kEnd. They run one after the
// other, each with slots of its own, on one budget.

namespace ringside::wire {

enum class RecipeOpcode : std::uint8_t {
  kEnd,         // the end of a recipe: the next one begins behind it
  kSet,         // slot[dst] = imm
  kRegister,    // slot[dst] = register[a]; skips `skip` operations where the register was not read
  kAdd,         // slot[dst] = slot[a] + imm
  kSubtract,    // slot[dst] = slot[a] - slot[b]
  kMask,        // slot[dst] = slot[a] & imm
  kLoad,        // slot[dst] = b bytes (1, 2, 4 or 8) at slot[a] + imm, little endian; skips `skip`
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
  kLoadSigned,   // kLoad with the sign extended
  kSkipIfLessSlot,  // skips `skip` operations if slot[a] < slot[b], unsigned
  kSkipIfNotLessSlot,
  kSkipIfEqualSlot,
  kSkipIfNotEqualSlot,
  kEmit,        // the value of slot[a], 8 bytes, as a piece without an address
  kCopyString,  // copy from slot[a] up to the first zero byte, which is not copied, or imm bytes
  kEnter,       // on riscv64 in machine mode: from here on, in the recipes behind this one, too,
                // registers are those that firmware has saved at the physical address slot[a]
  // (firmware_frame.h; 0: not yet, they are the vCPU's), of mode slot[dst], and memory
  // is as they see it, by the page tables of the value slot[b] of satp
};

struct RecipeOp {
  RecipeOpcode opcode = RecipeOpcode::kEnd;
  std::uint8_t dst = 0;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint16_t skip = 0;
  std::uint16_t tag = 0;  // of the piece that it copies or emits
  std::uint64_t imm = 0;
};
static_assert(sizeof(RecipeOp) == 16);

inline constexpr std::size_t kRecipeSlots = 32;
inline constexpr std::uint32_t kMaxStackBytes = 64 * 1024;
// Entries of page tables that a run reads behind kEnter, beside its budget of loads: enough for the
// largest stack and some structures. A run that needs more ends.
inline constexpr std::uint32_t kMostTableLoads = 96;

// How much a run of a recipe may read.
struct RecipeBudget {
  std::uint32_t loads = 64;
  std::uint32_t bytes = 3 * kMaxStackBytes;
  std::array<std::uint32_t, kPieceKindCount> stack_bytes{2048, 2048, 2048, 8, 0, 0, 0, 0, 0};
};

// Makes a piece of what a request has copied: the bytes of the capture from `offset` on. There are
// none for kValue, and fewer than were asked for where memory ends.
void finish_piece(Capture& capture, const MemoryRequest& request, std::size_t offset);

// One run of a recipe, resumable, so that an engine can put the reads of all vCPUs into one round
// trip:
//   while (auto request = run.next()) {
//     if (request->is_load()) run.loaded(read(*request)); else copy and finish_piece(…);
//   }
class RecipeRun {
 public:
  RecipeRun(std::span<const RecipeOp> recipe, const arch::Registers& registers,
            const RecipeBudget& budget)
      : recipe_(recipe), registers_(&registers), budget_(budget) {}

  // The next read, nothing when the last recipe has ended. Not to be called between a load and its
  // loaded().
  [[nodiscard]] std::optional<MemoryRequest> next() {
    for (;;) {
      if (auto request = entered_ ? entered_->memory.next() : std::nullopt) {
        if (!entered_->memory.walks() || table_loads_++ < kMostTableLoads) return request;
        at_ = recipe_.size();
        return std::nullopt;
      }
      auto request = next_wanted();
      const bool is_as_it_is = !entered_ || entered_->is_saved_register || !request ||
                               request->what == MemoryRequest::What::kValue;
      if (is_as_it_is) return request;
      if (!entered_->memory.want(*request) && std::exchange(is_loading_, false)) at_ += load_->skip;
    }
  }

  // The answer to a load, zero-extended; nothing where the memory is not mapped.
  void loaded(std::optional<std::uint64_t> value) {
    if (entered_ && entered_->memory.walks()) {
      // A copy that is not mapped is left out.
      if (entered_->memory.entry(value) || !is_loading_) return;
      value = std::nullopt;
    }
    is_loading_ = false;
    if (!value)
      at_ += load_->skip;
    else if (load_->opcode == RecipeOpcode::kLoadSigned)
      slots_[load_->dst] = sign_extended(*value, load_->b);
    else
      slots_[load_->dst] = *value;
  }

 private:
  // The code that firmware has interrupted.
  struct Entered {
    GuestVirt frame;
    std::uint64_t satp = 0;
    std::uint64_t mode = 0;
    SupervisorMemory memory;
    bool is_saved_register = false;  // what was asked for last
  };

  // The next read, at the address that the recipe has.
  [[nodiscard]] std::optional<MemoryRequest> next_wanted() {
    if (entered_) entered_->is_saved_register = false;
    while (at_ < recipe_.size()) {
      const RecipeOp& op = recipe_[at_++];
      if (!is_in_range(op)) {
        end();
        continue;
      }
      const std::uint64_t a = op.opcode == RecipeOpcode::kRegister ? 0 : slots_[op.a];
      switch (op.opcode) {
        case RecipeOpcode::kEnd:
          slots_ = {};
          break;
        case RecipeOpcode::kSet:
          slots_[op.dst] = op.imm;
          break;
        case RecipeOpcode::kRegister:
          if (entered_) {
            if (auto request = saved_register(op)) return request;
          } else if (registers_->has(op.a))
            slots_[op.dst] = registers_->get(op.a);
          else
            at_ += op.skip;
          break;
        case RecipeOpcode::kAdd:
          slots_[op.dst] = a + op.imm;
          break;
        case RecipeOpcode::kSubtract:
          slots_[op.dst] = a - slots_[op.b];
          break;
        case RecipeOpcode::kMask:
          slots_[op.dst] = a & op.imm;
          break;
        case RecipeOpcode::kLoad:
        case RecipeOpcode::kLoadSigned:
          if (budget_.loads > 0 && is_load_size(op.b)) return load(op);
          end();
          break;
        case RecipeOpcode::kSkipIfLess:
          skip(op, a < op.imm);
          break;
        case RecipeOpcode::kSkipIfNotLess:
          skip(op, a >= op.imm);
          break;
        case RecipeOpcode::kSkipIfEqual:
          skip(op, a == op.imm);
          break;
        case RecipeOpcode::kSkipIfNotEqual:
          skip(op, a != op.imm);
          break;
        case RecipeOpcode::kSkipIfLessSlot:
          skip(op, a < slots_[op.b]);
          break;
        case RecipeOpcode::kSkipIfNotLessSlot:
          skip(op, a >= slots_[op.b]);
          break;
        case RecipeOpcode::kSkipIfEqualSlot:
          skip(op, a == slots_[op.b]);
          break;
        case RecipeOpcode::kSkipIfNotEqualSlot:
          skip(op, a != slots_[op.b]);
          break;
        case RecipeOpcode::kShiftRight:
          slots_[op.dst] = op.imm < 64 ? a >> op.imm : 0;
          break;
        case RecipeOpcode::kShiftLeft:
          slots_[op.dst] = op.imm < 64 ? a << op.imm : 0;
          break;
        case RecipeOpcode::kAddSlots:
          slots_[op.dst] = a + slots_[op.b];
          break;
        case RecipeOpcode::kCopyStack:
        case RecipeOpcode::kCopy:
        case RecipeOpcode::kCopyString:
          if (auto request = copy(op)) return request;
          break;
        case RecipeOpcode::kCopyStackAt:
          if (auto request = copy_part(op)) return request;
          break;
        case RecipeOpcode::kEmit:
          if (auto request = emit(op)) return request;
          break;
        case RecipeOpcode::kEnter:
          entered_ = {.frame = GuestVirt{a},
                      .satp = slots_[op.b],
                      .mode = slots_[op.dst],
                      .memory = SupervisorMemory(slots_[op.b])};
          break;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] static bool is_in_range(const RecipeOp& op) {
    using enum RecipeOpcode;
    const std::size_t most_a = op.opcode == kRegister ? arch::kRegisterCount : kRecipeSlots;
    if (op.opcode > kEnter || op.dst >= kRecipeSlots || op.a >= most_a) return false;
    switch (op.opcode) {
      case kCopyStack:
      case kCopy:
      case kCopyString:
      case kCopyStackAt:
        return op.b < kPieceKindCount;
      default:
        return op.b < kRecipeSlots;
    }
  }
  [[nodiscard]] static bool is_load_size(std::uint8_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  }
  [[nodiscard]] static std::uint64_t sign_extended(std::uint64_t value, unsigned bytes) {
    const unsigned unused = 64 - 8 * bytes;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
  }

  void skip(const RecipeOp& op, bool is_true) {
    if (is_true) at_ += op.skip;
  }

  // Ends the recipe that is running.
  void end() {
    while (at_ < recipe_.size() && recipe_[at_].opcode != RecipeOpcode::kEnd) ++at_;
  }

  [[nodiscard]] MemoryRequest load(const RecipeOp& op) {
    --budget_.loads;
    load_ = &op;
    is_loading_ = true;
    const GuestVirt at{slots_[op.a] + op.imm};
    return {.what = MemoryRequest::What::kLoad, .address = at, .read_at = at, .size = op.b};
  }

  // A register of the code that firmware has interrupted: a read, or nothing where none is needed.
  [[nodiscard]] std::optional<MemoryRequest> saved_register(const RecipeOp& op) {
    using namespace arch::riscv64;
    if (op.a == kSatp) {
      slots_[op.dst] = entered_->satp;
    } else if (op.a == kPriv) {
      slots_[op.dst] = entered_->mode;
    } else if (op.a > kPc) {
      at_ += op.skip;
    } else if (entered_->frame == GuestVirt{}) {
      slots_[op.dst] = registers_->get(op.a == kPc ? std::uint8_t{kSepc} : op.a);
    } else if (budget_.loads == 0) {
      at_ += op.skip;
    } else {
      --budget_.loads;
      load_ = &op;
      is_loading_ = true;
      entered_->is_saved_register = true;
      const GuestVirt at = entered_->frame + firmware_frame::offset_of(op.a);
      return MemoryRequest{.what = MemoryRequest::What::kLoad,
                           .address = at,
                           .read_at = at,
                           .size = firmware_frame::kWord};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<MemoryRequest> copy(const RecipeOp& op) {
    std::uint64_t size = op.imm;
    if (op.opcode == RecipeOpcode::kCopyStack) {
      size = budget_.stack_bytes[op.b];
      if (op.imm != 0) size = std::min(size, (0 - slots_[op.a]) % op.imm);
    }
    auto request = copy_request(op, GuestVirt{slots_[op.a]}, size);
    if (request && op.opcode == RecipeOpcode::kCopyString)
      request->what = MemoryRequest::What::kString;
    return request;
  }

  [[nodiscard]] std::optional<MemoryRequest> copy_part(const RecipeOp& op) {
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
    return MemoryRequest{.address = GuestVirt{slots_[op.a]},
                         .read_at = read_at,
                         .size = static_cast<std::uint32_t>(size),
                         .why = static_cast<PieceKind>(op.b),
                         .tag = op.tag};
  }

  [[nodiscard]] std::optional<MemoryRequest> emit(const RecipeOp& op) {
    constexpr std::uint32_t kBytes = sizeof(std::uint64_t);
    if (budget_.bytes < kBytes) return std::nullopt;
    budget_.bytes -= kBytes;
    return MemoryRequest{.what = MemoryRequest::What::kValue,
                         .size = kBytes,
                         .why = PieceKind::kValue,
                         .tag = op.tag,
                         .value = slots_[op.a]};
  }

  std::span<const RecipeOp> recipe_;
  const arch::Registers* registers_;
  RecipeBudget budget_;
  std::array<std::uint64_t, kRecipeSlots> slots_{};
  std::size_t at_ = 0;
  const RecipeOp* load_ = nullptr;
  std::uint32_t table_loads_ = 0;
  bool is_loading_ = false;  // what is read is a load of the recipe's
  std::optional<Entered> entered_;
};

}  // namespace ringside::wire
