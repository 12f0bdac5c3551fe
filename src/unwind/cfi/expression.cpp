#include "unwind/cfi/expression.h"

#include <dwarf.h>

#include <array>

namespace ringside::unwind::cfi {
namespace {

// DWARF 5, section 7.7.1.
constexpr int kMaxOperations = 1000;
constexpr std::size_t kMaxDepth = 64;

class Evaluation {
 public:
  Evaluation(Bytes bytes, const MachineState& state, const StackMemory& memory,
             std::uint64_t load_bias, std::uint8_t address_size)
      : bytes_(bytes),
        reader_(bytes),
        state_(state),
        memory_(memory),
        load_bias_(load_bias),
        address_size_(address_size) {}

  void push(std::uint64_t value) {
    if (depth_ == kMaxDepth)
      failed_ = true;
    else
      stack_[depth_++] = value;
  }

  [[nodiscard]] tl::expected<ExpressionValue, ExpressionFailure> run() {
    for (int i = 0; !reader_.empty() && !failed_; ++i) {
      if (i == kMaxOperations) return tl::unexpected(ExpressionFailure{});
      step(number<std::uint8_t>());
      if (unreadable_) return tl::unexpected(ExpressionFailure{unreadable_});
    }
    if (failed_ || depth_ == 0) return tl::unexpected(ExpressionFailure{});
    return ExpressionValue{stack_[depth_ - 1], slot_};
  }

 private:
  template <class T>
  std::uint64_t number() {
    const auto value = reader_.read<T>();
    if (!value) failed_ = true;
    return value ? static_cast<std::uint64_t>(static_cast<std::int64_t>(*value)) : 0;
  }
  std::uint64_t uleb() {
    const auto value = reader_.read_uleb();
    if (!value) failed_ = true;
    return value.value_or(0);
  }
  std::uint64_t sleb() {
    const auto value = reader_.read_sleb();
    if (!value) failed_ = true;
    return static_cast<std::uint64_t>(value.value_or(0));
  }
  std::uint64_t pop() {
    if (depth_ == 0) {
      failed_ = true;
      return 0;
    }
    return stack_[--depth_];
  }
  std::uint64_t peek(std::size_t index) {
    if (index >= depth_) {
      failed_ = true;
      return 0;
    }
    return stack_[depth_ - 1 - index];
  }
  void push_register(std::uint64_t reg, std::uint64_t offset) {
    if (reg >= kTrackedRegisters || !state_.has(reg))
      failed_ = true;
    else
      push(state_.get(reg) + offset);
  }
  void load(std::size_t size) {
    const GuestVirt at{pop()};
    if (failed_ || size == 0 || size > 8) {
      failed_ = true;
      return;
    }
    const auto value = memory_.read(at, size);
    if (!value) {
      unreadable_ = at;
      return;
    }
    slot_ = at;
    push(*value);
  }
  void jump() {
    const auto offset = static_cast<std::int16_t>(number<std::int16_t>());
    const std::int64_t target = static_cast<std::int64_t>(reader_.offset()) + offset;
    if (target < 0 || static_cast<std::size_t>(target) > bytes_.size()) {
      failed_ = true;
      return;
    }
    reader_ = ByteReader(bytes_);
    if (!reader_.skip(static_cast<std::size_t>(target))) failed_ = true;
  }

  void step(std::uint64_t opcode);
  void constant(std::uint64_t opcode);
  void shuffle(std::uint64_t opcode);
  void binary(std::uint64_t opcode);

  Bytes bytes_;
  ByteReader reader_;
  const MachineState& state_;
  const StackMemory& memory_;
  std::uint64_t load_bias_;
  std::uint8_t address_size_;
  std::array<std::uint64_t, kMaxDepth> stack_{};
  std::size_t depth_ = 0;
  GuestVirt slot_;
  std::optional<GuestVirt> unreadable_;
  bool failed_ = false;
};

void Evaluation::step(std::uint64_t opcode) {
  if (opcode >= DW_OP_lit0 && opcode < DW_OP_reg0) return push(opcode - DW_OP_lit0);
  if (opcode >= DW_OP_breg0 && opcode < DW_OP_breg0 + 32)
    return push_register(opcode - DW_OP_breg0, sleb());
  if (opcode >= DW_OP_addr && opcode <= DW_OP_consts && opcode != DW_OP_deref)
    return constant(opcode);
  if (opcode >= DW_OP_dup && opcode <= DW_OP_rot) return shuffle(opcode);
  switch (opcode) {
    case DW_OP_deref:
      return load(address_size_);
    case DW_OP_deref_size:
      return load(number<std::uint8_t>());
    case DW_OP_bregx: {
      const std::uint64_t reg = uleb();
      return push_register(reg, sleb());
    }
    case DW_OP_abs: {
      const std::uint64_t value = pop();
      return push(value >> 63 != 0 ? 0 - value : value);
    }
    case DW_OP_neg:
      return push(0 - pop());
    case DW_OP_not:
      return push(~pop());
    case DW_OP_plus_uconst:
      return push(pop() + uleb());
    case DW_OP_skip:
      return jump();
    case DW_OP_bra:
      if (pop() != 0) return jump();
      (void)number<std::int16_t>();
      return;
    case DW_OP_nop:
      return;
    default:
      return binary(opcode);
  }
}

void Evaluation::constant(std::uint64_t opcode) {
  switch (opcode) {
    case DW_OP_addr:
      return push((address_size_ == 4 ? number<std::uint32_t>() : number<std::uint64_t>()) +
                  load_bias_);
    case DW_OP_const1u:
      return push(number<std::uint8_t>());
    case DW_OP_const1s:
      return push(number<std::int8_t>());
    case DW_OP_const2u:
      return push(number<std::uint16_t>());
    case DW_OP_const2s:
      return push(number<std::int16_t>());
    case DW_OP_const4u:
      return push(number<std::uint32_t>());
    case DW_OP_const4s:
      return push(number<std::int32_t>());
    case DW_OP_const8u:
    case DW_OP_const8s:
      return push(number<std::uint64_t>());
    case DW_OP_constu:
      return push(uleb());
    case DW_OP_consts:
      return push(sleb());
    default:
      failed_ = true;
  }
}

void Evaluation::shuffle(std::uint64_t opcode) {
  switch (opcode) {
    case DW_OP_dup:
      return push(peek(0));
    case DW_OP_drop:
      (void)pop();
      return;
    case DW_OP_over:
      return push(peek(1));
    case DW_OP_pick:
      return push(peek(number<std::uint8_t>()));
    case DW_OP_swap: {
      const std::uint64_t top = pop();
      const std::uint64_t second = pop();
      push(top);
      return push(second);
    }
    case DW_OP_rot: {
      const std::uint64_t top = pop();
      const std::uint64_t second = pop();
      const std::uint64_t third = pop();
      push(top);
      push(third);
      return push(second);
    }
    default:
      failed_ = true;
  }
}

void Evaluation::binary(std::uint64_t opcode) {
  const std::uint64_t b = pop();
  const std::uint64_t a = pop();
  const auto signed_a = static_cast<std::int64_t>(a);
  const auto signed_b = static_cast<std::int64_t>(b);
  switch (opcode) {
    case DW_OP_and:
      return push(a & b);
    case DW_OP_div:
      if (b == 0) break;
      return push(b == ~std::uint64_t{0} ? 0 - a : static_cast<std::uint64_t>(signed_a / signed_b));
    case DW_OP_minus:
      return push(a - b);
    case DW_OP_mod:
      if (b == 0) break;
      return push(a % b);
    case DW_OP_mul:
      return push(a * b);
    case DW_OP_or:
      return push(a | b);
    case DW_OP_plus:
      return push(a + b);
    case DW_OP_shl:
      return push(b < 64 ? a << b : 0);
    case DW_OP_shr:
      return push(b < 64 ? a >> b : 0);
    case DW_OP_shra:
      return push(static_cast<std::uint64_t>(signed_a >> (b < 64 ? b : 63)));
    case DW_OP_xor:
      return push(a ^ b);
    case DW_OP_eq:
      return push(a == b);
    case DW_OP_ge:
      return push(signed_a >= signed_b);
    case DW_OP_gt:
      return push(signed_a > signed_b);
    case DW_OP_le:
      return push(signed_a <= signed_b);
    case DW_OP_lt:
      return push(signed_a < signed_b);
    case DW_OP_ne:
      return push(a != b);
    default:
      break;
  }
  failed_ = true;
}

}  // namespace

tl::expected<ExpressionValue, ExpressionFailure> evaluate(
    Bytes expression, const MachineState& state, const StackMemory& memory,
    std::optional<std::uint64_t> cfa, std::uint64_t load_bias, std::uint8_t address_size) {
  Evaluation evaluation(expression, state, memory, load_bias, address_size);
  if (cfa) evaluation.push(*cfa);
  return evaluation.run();
}

}  // namespace ringside::unwind::cfi
