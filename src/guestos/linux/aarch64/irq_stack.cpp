#include "guestos/linux/aarch64/irq_stack.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/little_endian.h"

namespace ringside::guestos {
namespace {

// Recipes have room for so many of them; a kernel has two to four.
constexpr std::size_t kMostRecords = 8;
constexpr std::size_t kMostFunctions = 8;

// The byte behind the first instruction of a function that matches, and that instruction.
struct Found {
  std::uint64_t behind = 0;
  std::uint32_t word = 0;
};
std::optional<Found> find_instruction(const elf::ElfFile& file, ImageAddr start, std::size_t count,
                                      std::uint32_t mask, std::uint32_t wanted) {
  const Bytes code = file.bytes_at(start, 4 * count);
  for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
    const auto word = load<std::uint32_t>(code, at);
    if ((word & mask) == wanted) return Found{start.value + at + 4, word};
  }
  return std::nullopt;
}

bool runs_on_irq_stack(std::string_view symbol) {
  return symbol == "____do_softirq" || symbol == "gic_handle_irq";
}

}  // namespace

std::vector<EndRecord> aarch64_irq_stack_records(const elf::Image& kernel) {
  std::vector<EndRecord> records;
  const auto caller = kernel.file->symbol_named("call_on_irq_stack");
  if (!caller) return records;
  const auto call = find_instruction(*kernel.file, caller->address, 32, ~0u, 0xd63f0020);  // blr x1
  if (!call) return records;
  for (const elf::FunctionSymbol& symbol : kernel.file->symbols()) {
    if (records.size() == kMostRecords) break;
    if (!runs_on_irq_stack(symbol.name)) continue;
    // stp x29, x30, [sp, #imm7 * 8]! (Arm ARM, C6.2.329), behind what marks the entry.
    const auto push = find_instruction(*kernel.file, symbol.address, 6, 0xffc07fff, 0xa9807bfd);
    if (!push) continue;
    const std::uint32_t imm7 = push->word >> 15 & 0x7f;
    const EndRecord record{8 * (128 - imm7),
                           kernel.to_guest({call->behind}).value & kReturnAddressBits};
    if (imm7 >= 64 && std::find(records.begin(), records.end(), record) == records.end())
      records.push_back(record);
  }
  return records;
}

UnknownStacks aarch64_unknown_irq_stacks(const elf::Image& kernel) {
  UnknownStacks stacks{.records = aarch64_irq_stack_records(kernel), .empty_in = {}};
  if (stacks.records.empty()) return stacks;
  for (const elf::FunctionSymbol& symbol : kernel.file->symbols()) {
    if (stacks.empty_in.size() == kMostFunctions) break;
    if (symbol.name != "call_on_irq_stack" && !runs_on_irq_stack(symbol.name)) continue;
    const UnknownStacks::Code code{kernel.to_guest(symbol.address), symbol.size};
    if (std::find(stacks.empty_in.begin(), stacks.empty_in.end(), code) == stacks.empty_in.end())
      stacks.empty_in.push_back(code);
  }
  return stacks;
}

}  // namespace ringside::guestos
