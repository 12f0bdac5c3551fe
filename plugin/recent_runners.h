#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/arch_info.h"
#include "base/dense_table.h"
#include "wire/capture.h"

namespace ringside::plugin {

// Remembers who ran when samples were taken: by the page tables and, where the recipe gives it, by
// the process (wire::kRunnerTag). One that is new may not live for long, and ringside can read what
// it needs of a process only as long as it lives.
class RecentRunners {
 public:
  // Whether who runs in `capture` is new, or was forgotten for others.
  [[nodiscard]] bool is_new(const wire::Capture& capture) {
    const std::uint64_t runner = runner_of(capture);
    std::uint64_t& known = known_[runner % known_.size()];
    if (known == runner) return false;
    known = runner;
    return true;
  }

 private:
  static std::uint64_t runner_of(const wire::Capture& capture) {
    const arch::PageTableRoot& root = arch::info_of(capture.arch).user_root;
    std::uint64_t runner = 1;
    if (root.reg != arch::kNoRegister && capture.registers.has(root.reg))
      runner = mixed(runner ^ (capture.registers.get(root.reg) & root.mask));
    if (const wire::MemoryPiece* const piece = capture.tagged(wire::kRunnerTag))
      for (const std::byte byte : capture.bytes_of(*piece))
        runner = mixed(runner ^ static_cast<std::uint8_t>(byte));
    return runner;
  }

  std::array<std::uint64_t, 256> known_{};
};

}  // namespace ringside::plugin
