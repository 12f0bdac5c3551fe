#pragma once

#include <cstdint>
#include <optional>

#include "base/types.h"
#include "elf/image_map.h"

namespace ringside::guestos {

// Where arm64 Linux enters and leaves the kernel while page-table isolation hides the kernel from
// user code (arch/arm64/kernel/entry.S, .entry.tramp.text): a second mapping of a few pages of the
// kernel at a fixed address, TRAMP_VALIAS, which differs from one configuration to the next.
struct Trampoline {
  ImageAddr code = {};   // in the kernel
  GuestVirt alias = {};  // where it runs
  std::uint64_t bytes = 0;
  std::uint64_t exit = 0;  // from the start: behind the vectors, the exit path of the kernel
};

// Nothing in a kernel without it. The alias is the constant that the exit path to user mode loads
// into a register (`mov_q x30, TRAMP_VALIAS`, entry.S of 4.16 to 6.1; later the address of
// tramp_exit_native there). Where kallsyms has no symbols of read-only data, in which the
// trampoline lies from 6.1 on, the code behind that constant shows its place in the kernel.
[[nodiscard]] std::optional<Trampoline> find_trampoline(const elf::ElfFile& kernel);

// The trampoline as an image of its own.
[[nodiscard]] std::optional<elf::Image> trampoline_image(const elf::ElfFile& kernel);

}  // namespace ringside::guestos
