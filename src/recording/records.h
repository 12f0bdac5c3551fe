#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/stack.h"
#include "base/types.h"
#include "recording/events.h"
#include "recording/samples.h"

// The contents of a recording, as plain values. docs/recording-format.md says how they are stored.
//
// Times are nanoseconds since Header::start_monotonic_ns unless a comment says otherwise. Ids count
// from 1; 0 is "none" or "unknown".
namespace ringside::recording {

// The machine, the guest and how it was sampled. The first record of every recording.
struct Header {
  std::string ringside_version;
  std::vector<std::string> command_line;
  std::uint64_t start_wall_ns = 0;       // since 1970-01-01 UTC
  std::uint64_t start_monotonic_ns = 0;  // of the host's clock
  Arch arch = Arch::kUnknown;
  std::uint32_t vcpu_count = 0;
  std::uint64_t interval_ns = 0;  // mean time between two ticks
  std::string engine;             // "gdb", "qmp", "tcg", …
  std::string guest_os;           // "linux", "generic", …
  std::string kernel;             // what people call the kernel: a version, or a file's name
  std::string host;               // name of the machine that ran ringside
  std::string qemu_version;       // "7.2.22"; empty where it is not known
  std::string kernel_release;     // as the kernel states it: "6.1.0-57-amd64"; empty: it does not
  std::vector<std::byte> kernel_build_id;
  // A repetition with this seed gives the same samples (record --deterministic); absent: not
  // proven.
  std::optional<std::uint64_t> deterministic_seed;
};

// The kernel in the head of a recording; empty: it is not determined.
struct GuestKernel {
  std::string system;  // Header::guest_os
  std::string name;    // Header::kernel
  std::string release;
  std::vector<std::byte> build_id;
};

// The source that a header describes.
[[nodiscard]] Source cpu_source(const Header& header);

// An ELF file, or a piece of guest memory that is read like one.
struct ImageInfo {
  std::uint32_t id = 0;  // given by the writer
  std::string name;      // short: "kernel", "busybox"
  std::string path;      // on the host; empty if it was read from guest memory
  std::vector<std::byte> build_id;
  Arch arch = Arch::kUnknown;
  std::uint64_t load_bias = 0;  // guest address minus linked address, modulo 2^64
  std::uint64_t size = 0;       // bytes of address space from its lowest to its highest address
  std::uint64_t code_hash = 0;  // elf::code_hash() of a file without build id; 0: not known
  bool operator==(const ImageInfo&) const = default;
};

// Where an image stands, from a time on. A later mapping of the same address space that overlaps an
// earlier one replaces it there.
struct Mapping {
  std::uint32_t id = 0;  // given by the writer
  std::uint32_t image = 0;
  GuestVirt start;
  GuestVirt end;  // behind the last byte
  FileOffset file_offset;
  std::uint64_t valid_from_ns = 0;
  std::uint64_t address_space = 0;  // 0: every address space, as the kernel is
  bool operator==(const Mapping&) const = default;
};

// A frame as it was unwound; names come later. It has `function` where an input has names instead
// of addresses.
struct RecordedFrame {
  GuestVirt address;
  bool exact = false;  // as in ringside::Frame
  FrameSource source = FrameSource::kRegisters;
  FrameKind kind = FrameKind::kKernel;
  std::uint32_t image = 0;     // 0: no image is mapped there
  std::uint32_t mapping = 0;   // 0: no image is mapped there
  std::uint32_t function = 0;  // a text; 0: the address finds its name
  std::uint32_t file = 0;      // a text, with `function`: where it stands in the source
  std::uint32_t line = 0;      // there; 0: unknown
  bool inlined = false;        // with `function`: into the function of the node's parent

  [[nodiscard]] GuestVirt lookup_address() const { return exact ? address : address - 1; }
  bool operator==(const RecordedFrame&) const = default;
};

// A node of the tree that all stacks share. The stack of a node is its frame, then its parent's, up
// to a root: the outermost caller.
struct StackNode {
  std::uint32_t parent = 0;  // 0: this is a root
  std::uint32_t frame = 0;
  bool operator==(const StackNode&) const = default;
};

inline constexpr std::size_t kDispositionCount = 4;

// The guest became another one: it booted again, or its kernel moved. Neither stacks, frames nor
// mappings cross epochs.
struct GuestEpoch {
  std::uint64_t time_ns = 0;
  std::string reason;           // "kernel gone"
  std::uint64_t load_bias = 0;  // of the kernel from now on; 0: not known yet
  bool operator==(const GuestEpoch&) const = default;
};

// A table that exists only in the guest, for instance "kallsyms", as the adapter stored it.
struct Blob {
  std::string kind;
  std::uint32_t image = 0;
  Bytes content;  // valid during the visitor's call
};

// A function of an image, as its symbols have it. Those are recorded that frames lie in, and some
// of the others, by which the image is recognized.
struct ImageFunction {
  std::uint32_t image = 0;
  ImageAddr address;       // as linked
  std::uint64_t size = 0;  // bytes
  std::string name;        // not demangled
  bool in_file = false;    // the file at the image's path has its name, too
  bool operator==(const ImageFunction&) const = default;
};

// Blob::kind: an ELF file with an image's functions, as symbols::pack_symbols() makes it, where
// there was no file to open again.
inline constexpr const char* kSymbolsBlob = "symbols";

// Blob::kind: the same of a file that can be opened again, for when it is gone or was built again.
inline constexpr const char* kKeptSymbolsBlob = "kept-symbols";

// Blob::kind: the same with functions that no symbol names, called after their image and place.
inline constexpr const char* kSynthesizedSymbolsBlob = "nameless-functions";

// The name of a process or thread, and its control group, from a time on.
struct ThreadName {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;  // 0: the whole process
  std::uint64_t address_space = 0;
  std::string name;
  std::string cgroup = {};  // "/system.slice/ssh.service"; empty: not known
  bool of_many = false;     // `pid` stands for all processes of that name, and is none of theirs
  bool operator==(const ThreadName&) const = default;
};

// The name of a process of which nothing is known but that it is one: "[process 3]". The processes
// of such a kernel are counted as they are seen, and the count is the pid.
[[nodiscard]] std::string unnamed_process(std::uint32_t pid);
[[nodiscard]] bool is_unnamed_process(std::string_view name);

// Blob::kind of the ELF file of an image that was made of guest memory (its ImageInfo has no path).
inline constexpr const char* kImageFileBlob = "image-file";

// Statistics::counters: bytes of stack that were copied, all samples together.
inline constexpr const char* kStackBytesCounter = "stack bytes copied";
// How frames were found: one counter for each name_of(FrameSource), and of all frames those that
// needed the walk that tracks all registers.
inline constexpr const char* kFramesByCounter = "frames by ";
inline constexpr const char* kSlowFramesCounter = "frames by the slow path";

// Why vCPU ticks were lost: counters that add up to Statistics::lost, in recordings since 2026-11.
inline constexpr const char* kLostByPrefix = "lost, ";
// Without the prefix.
[[nodiscard]] constexpr std::string_view lost_because(std::string_view counter) {
  return counter.substr(std::string_view(kLostByPrefix).size());
}
inline constexpr const char* kLostByHost = "lost, vCPU not run by the host";
inline constexpr const char* kLostToVcpu = "lost, plugin or vCPU not in time";
inline constexpr const char* kLostLate = "lost, ringside too late";
inline constexpr const char* kLostToUnwinding = "lost, unwinding too slow";
inline constexpr const char* kLostToRing = "lost, plugin's ring full";
inline constexpr const char* kLostToGuestRing = "lost, guest's own ring full";
inline constexpr const char* kLostByOverwriting = "lost, overwritten or damaged before it was read";
inline constexpr const char* kLostToSuspension = "lost, ringside was suspended";
inline constexpr const char* kLostToEngine = "lost, engine gave no sample";

// Figures of a source that its samples do not show. A "vCPU tick" is one tick of one vCPU: a tick
// of a guest with four vCPUs is four of them. due = sampled + idle + skipped + failed + lost.
struct Statistics {
  std::uint32_t source = 1;
  std::uint64_t due = 0;   // vCPU ticks
  std::uint64_t lost = 0;  // vCPU ticks that were due and gave no sample
  std::uint64_t late =
      0;  // ticks that were taken, but later than half an interval after they were due
  std::uint64_t duration_ns = 0;
  std::uint64_t symbol_ns = 0;  // time spent on loading and looking up symbols
  std::map<std::string, std::uint64_t> counters;
  // Those of another source are counted, too; the longer duration counts.
  Statistics& operator+=(const Statistics& other);
  bool operator==(const Statistics&) const = default;
};

[[nodiscard]] std::string_view name_of(wire::Disposition disposition);

}  // namespace ringside::recording
