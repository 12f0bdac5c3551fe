#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"
#include "elf/identity.h"

namespace ringside::elf {

struct Slide {
  std::uint64_t value = 0;   // address in memory minus address as linked, modulo 2^64
  std::size_t compared = 0;  // bytes
  std::size_t equal = 0;
};

// Where a kernel that relocates itself (KASLR) has gone: the slide, a multiple of 4 KiB, at which
// the file's code is what memory has around one of the addresses in `code`. These are addresses of
// kernel code in memory: a pc, or interrupt handlers; of several, the first that leads to an answer
// counts, so that one in a module or in a trampoline does no harm. 80 % of the bytes must be equal,
// as kernels patch their own code, and no other place may come near. Reads at most 3 KiB per
// address. kNotFound where the file's code is not there; other errors are those of `read`.
[[nodiscard]] Result<Slide> find_slide(const ElfFile& file, std::span<const GuestVirt> code,
                                       const GuestReader& read);

// The handlers of the first 32 interrupt vectors, the exceptions', which are all in a kernel's
// image: addresses for find_slide() that need no running pc. `table` is the base of the interrupt
// descriptor table (IDTR) of an x86_64 or i386 kernel. Empty where it cannot be read.
[[nodiscard]] Result<std::vector<GuestVirt>> exception_handlers(Arch arch, GuestVirt table,
                                                                const GuestReader& read);

}  // namespace ringside::elf
