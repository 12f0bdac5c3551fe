#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "plugin/qemu_api.h"

namespace ringside::plugin {

constexpr std::size_t kLongestInstruction = 15;  // x86's

// The bytes of the last instruction of a block that is being translated, in `code`; empty where
// there is none, or it is longer.
[[nodiscard]] inline std::span<const std::byte> last_instruction(
    const qemu_plugin_tb* block, std::array<std::byte, kLongestInstruction>& code) {
  const std::size_t instructions = qemu_plugin_tb_n_insns(block);
  if (instructions == 0) return {};
  const qemu_plugin_insn* const last = qemu_plugin_tb_get_insn(block, instructions - 1);
  const std::size_t size = qemu_plugin_insn_size(last);
  if (size > code.size() || qemu_plugin_insn_data(last, code.data(), size) != size) return {};
  return std::span(code).first(size);
}

}  // namespace ringside::plugin
