#include "unwind/cfi/expression.h"

#include <array>

namespace ringside::unwind::cfi {
namespace {

// DWARF 5, section 7.7.1.
enum : std::uint8_t {
  kAddr = 0x03,
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s = 0x09,
  kConst2u = 0x0a,
  kConst2s = 0x0b,
  kConst4u = 0x0c,
  kConst4s = 0x0d,
  kConst8u = 0x0e,
  kConst8s = 0x0f,
  kConstu = 0x10,
  kConsts = 0x11,
  kDup = 0x12,
  kDrop = 0x13,
  kOver = 0x14,
  kPick = 0x15,
  kSwap = 0x16,
  kRot = 0x17,
  kAbs = 0x19,
  kAnd = 0x1a,
  kDiv = 0x1b,
  kMinus = 0x1c,
  kMod = 0x1d,
  kMul = 0x1e,
  kNeg = 0x1f,
  kNot = 0x20,
  kOr = 0x21,
  kPlus = 0x22,
  kPlusUconst = 0x23,
  kShl = 0x24,
  kShr = 0x25,
  kShra = 0x26,
  kXor = 0x27,
  kBra = 0x28,
  kEq = 0x29,
  kGe = 0x2a,
  kGt = 0x2b,
  kLe = 0x2c,
  kLt = 0x2d,
  kNe = 0x2e,
  kSkip = 0x2f,
  kLit0 = 0x30,
  kReg0 = 0x50,
  kBreg0 = 0x70,
  kBregx = 0x92,
  kDerefSize = 0x94,
  kNop = 0x96,
};

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
    const auto value = read_uleb(reader_);
    if (!value) failed_ = true;
    return value.value_or(0);
  }
  std::uint64_t sleb() {
    const auto value = read_sleb(reader_);
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
  if (opcode >= kLit0 && opcode < kReg0) return push(opcode - kLit0);
  if (opcode >= kBreg0 && opcode < kBreg0 + 32) return push_register(opcode - kBreg0, sleb());
  if (opcode >= kAddr && opcode <= kConsts && opcode != kDeref) return constant(opcode);
  if (opcode >= kDup && opcode <= kRot) return shuffle(opcode);
  switch (opcode) {
    case kDeref:
      return load(address_size_);
    case kDerefSize:
      return load(number<std::uint8_t>());
    case kBregx: {
      const std::uint64_t reg = uleb();
      return push_register(reg, sleb());
    }
    case kAbs: {
      const std::uint64_t value = pop();
      return push(value >> 63 != 0 ? 0 - value : value);
    }
    case kNeg:
      return push(0 - pop());
    case kNot:
      return push(~pop());
    case kPlusUconst:
      return push(pop() + uleb());
    case kSkip:
      return jump();
    case kBra:
      if (pop() != 0) return jump();
      (void)number<std::int16_t>();
      return;
    case kNop:
      return;
    default:
      return binary(opcode);
  }
}

void Evaluation::constant(std::uint64_t opcode) {
  switch (opcode) {
    case kAddr:
      return push((address_size_ == 4 ? number<std::uint32_t>() : number<std::uint64_t>()) +
                  load_bias_);
    case kConst1u:
      return push(number<std::uint8_t>());
    case kConst1s:
      return push(number<std::int8_t>());
    case kConst2u:
      return push(number<std::uint16_t>());
    case kConst2s:
      return push(number<std::int16_t>());
    case kConst4u:
      return push(number<std::uint32_t>());
    case kConst4s:
      return push(number<std::int32_t>());
    case kConst8u:
    case kConst8s:
      return push(number<std::uint64_t>());
    case kConstu:
      return push(uleb());
    case kConsts:
      return push(sleb());
    default:
      failed_ = true;
  }
}

void Evaluation::shuffle(std::uint64_t opcode) {
  switch (opcode) {
    case kDup:
      return push(peek(0));
    case kDrop:
      (void)pop();
      return;
    case kOver:
      return push(peek(1));
    case kPick:
      return push(peek(number<std::uint8_t>()));
    case kSwap: {
      const std::uint64_t top = pop();
      const std::uint64_t second = pop();
      push(top);
      return push(second);
    }
    case kRot: {
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
    case kAnd:
      return push(a & b);
    case kDiv:
      if (b == 0) break;
      return push(b == ~std::uint64_t{0} ? 0 - a : static_cast<std::uint64_t>(signed_a / signed_b));
    case kMinus:
      return push(a - b);
    case kMod:
      if (b == 0) break;
      return push(a % b);
    case kMul:
      return push(a * b);
    case kOr:
      return push(a | b);
    case kPlus:
      return push(a + b);
    case kShl:
      return push(b < 64 ? a << b : 0);
    case kShr:
      return push(b < 64 ? a >> b : 0);
    case kShra:
      return push(static_cast<std::uint64_t>(signed_a >> (b < 64 ? b : 63)));
    case kXor:
      return push(a ^ b);
    case kEq:
      return push(a == b);
    case kGe:
      return push(signed_a >= signed_b);
    case kGt:
      return push(signed_a > signed_b);
    case kLe:
      return push(signed_a <= signed_b);
    case kLt:
      return push(signed_a < signed_b);
    case kNe:
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
