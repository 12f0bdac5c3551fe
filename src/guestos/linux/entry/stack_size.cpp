#include "guestos/linux/entry/stack_size.h"

#include <bit>
#include <string>

#include "base/byte_reader.h"

namespace ringside::guestos {
namespace {

// INIT_TASK_DATA in include/asm-generic/vmlinux.lds.h; __start_init_stack since 6.11.
std::optional<std::uint64_t> by_symbols(const elf::ElfFile& kernel) {
  constexpr std::uint64_t kMost = 1 << 20;
  for (const char* name : {"init_task", "init_stack"}) {
    const auto start = kernel.symbol_named(std::string("__start_") + name);
    const auto end = kernel.symbol_named(std::string("__end_") + name);
    if (!start || !end) continue;
    const std::uint64_t size = end->address - start->address;
    if (std::has_single_bit(size) && size <= kMost) return size;
  }
  return std::nullopt;
}

// Stacks are aligned to twice their size, and kernel_ventry (arch/arm64/kernel/entry.S, 4.14 and
// later, CONFIG_VMAP_STACK) tests the bit that an overflow sets: tbnz x0, #THREAD_SHIFT.
std::optional<std::uint64_t> by_overflow_test(const elf::ElfFile& kernel) {
  const auto vectors = kernel.symbol_named("vectors");
  if (kernel.arch() != Arch::kAArch64 || !vectors) return std::nullopt;
  constexpr std::size_t kVectorsSize = 2048;
  ByteReader code(kernel.bytes_at(vectors->address, kVectorsSize));
  while (const auto instruction = code.read<std::uint32_t>()) {
    // Arm ARM, C6.2: TBNZ, with b5 = 0 and Rt = 0; the bit's number is in 23:19.
    constexpr std::uint32_t kTbnzX0 = 0x37000000;
    const std::uint32_t bit = *instruction >> 19 & 0x1f;
    if ((*instruction & 0xff00001f) == kTbnzX0 && bit >= 12 && bit <= 20)
      return std::uint64_t{1} << bit;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> kernel_stack_size(const elf::ElfFile& kernel) {
  if (const auto size = by_symbols(kernel)) return size;
  return by_overflow_test(kernel);
}

}  // namespace ringside::guestos
