#pragma once

#include <functional>
#include <unordered_map>

#include "elf/image_map.h"
#include "unwind/x86/path.h"

namespace ringside::unwind::x86 {

// Decoded instructions of images, by address.
class CodeReader {
 public:
  explicit CodeReader(Decoder& decoder) : decoder_(decoder) {}

  // Valid until the next call. kStop outside of the image's code.
  [[nodiscard]] const Instruction& at(const elf::Image& image, GuestVirt at);
  void forget() { decoded_.clear(); }

 private:
  Decoder& decoder_;
  std::unordered_map<std::uint64_t, Instruction> decoded_;
};

enum class SearchEnd : std::uint8_t { kFound, kNoMore, kTooLong };

// Follows the code of `image` from a state on. At a conditional jump both ways are gone, first the
// one that known flags lead to. `found` is asked where a ret, iret or sysret ends a path, and says
// whether that was it. An instruction is visited once for each stack pointer, and for each value of
// the registers in `apart` beside it. Bounded to a thousand instructions.
[[nodiscard]] SearchEnd search(const elf::Image& image, CodeReader& code, Execution& execution,
                               const MachineState& from, std::uint64_t apart,
                               const std::function<bool(const Instruction&, const Path&)>& found);

}  // namespace ringside::unwind::x86
