#pragma once

#include <optional>
#include <string>

#include "base/memory_reader.h"
#include "base/result.h"
#include "elf/elf_file.h"

namespace ringside::kernel_image {

enum class MatchResult {
  kSame,
  kDifferent,  // there is a kernel, and it is another one
  kNotThere,   // nothing of the file is at its addresses: the kernel may have moved, or not started
  kUnreadable,  // most of its addresses are not mapped
  kNoEvidence,  // the file has nothing to compare (no text)
};

// Identity::evidence of the weakest kind.
inline constexpr const char* kTextEvidence = "text bytes";

struct Identity {
  MatchResult sameness = MatchResult::kNoEvidence;
  std::string evidence;      // "build id", "version banner", "text bytes"
  std::string in_file;       // what the file says, as text
  std::string in_memory;     // what the guest says
  double equal_share = 0;    // of the bytes that were compared, of text bytes
  std::size_t compared = 0;  // text bytes
};

// Does the guest's memory hold this kernel file at this load bias? Compares, in this order, what
// can be read: the build-id note, Linux's version banner, and text: 2 KiB and so many pieces of it,
// of 256 bytes each, and the page of the code that runs at `pc`. 97 % of all of them and of that
// page must be equal; two builds of one kernel may differ by less elsewhere, and a note of another
// build up to 64 KiB away shows that. Linux, which patches more of its own code, has one of the
// first two. Errors: those of `memory`.
[[nodiscard]] Result<Identity> check_identity(const elf::ElfFile& file, std::uint64_t load_bias,
                                              VirtualMemory& memory, std::size_t text_pieces = 16,
                                              std::optional<GuestVirt> pc = std::nullopt);

// Whether so many of the bytes of a kernel's text are equal that they are of one build. Linux
// patches much of its own code; other kernels' code stays as it was linked.
[[nodiscard]] bool is_one_build(const elf::ElfFile& file, double equal_share);

}  // namespace ringside::kernel_image
