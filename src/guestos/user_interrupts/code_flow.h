#pragma once

#include <memory>
#include <optional>

#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::guestos {

inline constexpr std::size_t kLongestInstruction = 15;  // bytes (Intel SDM volume 2, 2.3.11)
// Instructions of a function are found by decoding from its start, as long as it is no larger.
inline constexpr std::uint64_t kLargestFunction = 64 * 1024;

// Where the flow of control goes on from an instruction.
struct Flow {
  std::uint8_t size = 1;  // bytes
  bool goes_on = false;   // to the next instruction; from a call when that has returned
  bool is_call = false;
  bool is_indirect = false;  // it goes on at an address that the code does not show
  std::optional<ImageAddr> jumps_to = std::nullopt;  // always, or conditionally
};

// The instructions of one architecture as flow of control.
class CodeFlow {
 public:
  virtual ~CodeFlow() = default;
  // The flow of the first instruction of `bytes`, which lie at `address`. Bytes that are no
  // instruction lead nowhere.
  [[nodiscard]] virtual Flow at(Bytes bytes, ImageAddr address) = 0;
  // Where a jump leads that `bytes` may begin with; quicker than at(). On x86 they look like one
  // and may be a part of another instruction.
  [[nodiscard]] virtual std::optional<ImageAddr> jump(Bytes bytes, ImageAddr address) = 0;
  // Whether an instruction fills the space in front of a function.
  [[nodiscard]] virtual bool is_padding(Bytes instruction) const = 0;
  // Instructions begin at multiples of it, bytes.
  [[nodiscard]] virtual std::size_t alignment() const = 0;
};

// Null for an architecture that is not profiled.
[[nodiscard]] std::unique_ptr<CodeFlow> make_code_flow(Arch arch);

}  // namespace ringside::guestos
