#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/stack.h"
#include "base/types.h"
#include "kernel_image/identity.h"
#include "recording/sample_statistics.h"

// Facts about a guest, for sentences about it. Each part is set by who knows it, and a fact that
// nobody has set proves nothing.
namespace ringside::findings {

// Who ran, and which kernel that was: by the recorder.
struct GuestFacts {
  Arch arch = Arch::kUnknown;
  std::array<std::uint64_t, kPrivilegeLevelCount> samples_by_level{};
  std::string kernel_file;        // that was found, else the one that was looked for; may be empty
  bool kernel_was_found = false;  // in the guest's memory
  bool kernel_is_guests = false;  // it is that of a hypervisor's guest
  bool was_looked_for = false;    // in the guest's memory, and that is no replay's
  std::vector<double> kernel_left_s;  // when it was no longer at its place: seconds from the start
  std::size_t compared_files = 0;     // that nobody has named
  std::optional<kernel_image::Identity> identity;  // of kernel_file and the guest's memory
  bool has_symbols = false;                        // --symbols
  bool code_was_read = false;                      // of a kernel without a file
  std::uint64_t trap_loops = 0;     // samples of vCPUs that repeat a trap for good, and
  GuestVirt trap_loop_at;           // where the last one does
  bool no_code_ran = false;         // the plugin saw none, while the host ran the vCPU
  bool has_qemus_firmware = false;  // in whose mode no kernel runs
};

// Where names come from: by who names the frames of a recording.
struct NameFacts {
  std::string given_kernel;   // --kernel; empty: none
  std::string given_symbols;  // --symbols
  bool given_was_used = false;
  // It has names where it is linked, and nothing shows that it ran there.
  bool given_is_unchecked = false;
  // The recording has kernel code and no kernel, and the given one has no such code.
  bool given_lies_elsewhere = false;
  bool is_filtered = false;           // not all samples were asked for their names
  std::vector<std::string> misfits;   // why given symbols or files do not belong to the kernel
  bool given_names_a_kernel = false;  // that was recorded
  struct OtherKernel {
    std::string why;   // the given file is not it
    std::string file;  // that has its names
  };
  std::vector<OtherKernel> other_kernels;
  bool has_unnamed_code = false;  // of a kernel without a file, as the guest's memory had it
  bool has_named_kernel = false;
  std::vector<std::string> nameless_kernels;  // files
  std::vector<std::string> nameless_images;   // programs and libraries
  std::size_t programs_without_file = 0;      // and without names
  std::vector<std::string> unproven_files;    // with nothing to show that they were recorded
  struct Missing {
    std::string image;
    std::string why;
    std::string symbols;     // that stand for it: --symbols; empty: none
    bool has_names = false;  // the recording keeps those that were used
  };
  std::vector<Missing> missing;  // files
};

// A walk broke off at some code, since nothing says where its caller is.
constexpr bool lacks_rule(StopReason reason) {
  return !is_complete(reason) && reason != StopReason::kTruncated &&
         reason != StopReason::kNotCopied && reason != StopReason::kNoRegisters &&
         reason != StopReason::kTooDeep;
}

// Where walks of one part of the stacks broke off in one function, for want of a rule.
struct BrokenPlace {
  bool is_user = false;
  std::string function;
  std::string image;        // empty: none
  bool has_file = false;    // the image, or for its parts the kernel, on the host
  bool has_tables = false;  // the image, of unwind information, for other code of its
  StopReason reason = StopReason::kNoRule;  // of most
  std::uint64_t samples = 0;
};

// How far stacks go: by who shows a recording.
struct StackFacts {
  bool is_filtered = false;
  bool is_linux = false;
  bool is_torn = false;  // registers and memory of a sample are of different moments
  std::optional<std::size_t> depth_limit;  // frames, of ringside's walks; nothing: others walked
  std::uint64_t unwound = 0;               // samples with a stack
  std::uint64_t too_deep = 0;
  recording::PartStops kernel;
  recording::PartStops user;
  std::vector<BrokenPlace> places;
  std::vector<std::string> left_out;  // sentences on what the reader's bounds have left out
};

}  // namespace ringside::findings
