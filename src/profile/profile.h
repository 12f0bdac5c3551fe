#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/stack_tree.h"
#include "profile/string_table.h"
#include "recording/records.h"
#include "recording/sample_statistics.h"

namespace ringside::profile {

// Kind of code that a frame runs, as FrameKind has it; kUnknown where no function was found.
enum class Kind : std::uint8_t { kKernel, kUser, kInterrupt, kFirmware, kGuest, kCode, kUnknown };
inline constexpr std::size_t kKindCount = 7;
[[nodiscard]] std::string_view name_of(Kind kind);
// Whether it is code of the kernel.
[[nodiscard]] constexpr bool is_kernel(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kInterrupt;
}

// A function of an image. Two frames with the same name and image are the same function.
struct Function {
  StringId name = 0;   // as sanitize.h makes it
  StringId image = 0;  // the image's name, empty if there is none
  // Where its frames stand in the source: of several files the first by name, its lowest and its
  // highest line. Empty and 0 where that is not known.
  StringId file = 0;
  std::uint32_t first_line = 0;
  std::uint32_t last_line = 0;
  bool operator==(const Function&) const = default;
};

// The contents of a node of the stack tree.
struct Frame {
  FunctionId function = 0;
  Kind kind = Kind::kKernel;
  bool inlined = false;
  StringId line = 0;       // as BuildOptions::source_lines has it; 0: the place is not known
  bool is_beyond = false;  // a limit: the leaf of a sample, but in no tree (limit_stacks.h)
  bool operator==(const Frame&) const = default;
};

// Whose samples they are, and what became of them.
struct Owner {
  VcpuId vcpu;
  PrivilegeLevel level = PrivilegeLevel::kUnknown;
  wire::Disposition disposition = wire::Disposition::kSampled;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  StringId comm = 0;    // what the thread was called then; 0 where the profile knows no processes
  StringId cgroup = 0;  // its control group then; 0 where that is not known
  // When the span of time began that they are of; absent: of any time (BuildOptions::span_ns).
  std::optional<std::uint64_t> span_ns = {};
  auto operator<=>(const Owner&) const = default;
};
using OwnerId = std::uint32_t;

// A sum over samples. Negative where a profile is a difference, or where some samples take back
// what others gave.
using Weight = std::int64_t;
// How much a weight is, whatever its sign: what shares are shares of.
[[nodiscard]] constexpr std::uint64_t extent_of(Weight weight) {
  return weight < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(weight)
                    : static_cast<std::uint64_t>(weight);
}

// All samples that agree in everything but time.
struct SampleGroup {
  NodeId stack = kNoNode;  // the leaf; kNoNode where there is no stack
  // Where a sample of kernel code has user code at its root: the leaf of that part of `stack`.
  NodeId user_part = kNoNode;
  OwnerId owner = 0;
  Weight weight = 0;
  std::uint64_t samples = 0;
};

// Where walks broke off: samples of one reason whose outermost frame is of one function.
struct BrokenEnd {
  bool is_user = false;  // of the user part of a stack
  StopReason reason = StopReason::kNoRule;
  std::optional<FunctionId> function;  // absent: there is no frame
  // The image has tables of unwind information, for other code of its.
  bool has_tables = false;
  bool has_file = false;  // the image, or for its parts the kernel, on the host
  std::uint64_t samples = 0;
  bool operator==(const BrokenEnd&) const = default;
};

// Samples of kernel code that one file has named.
struct NamedBy {
  std::string file;  // its path; empty: the recording has the names
  std::uint64_t samples = 0;
  bool operator==(const NamedBy&) const = default;
};

// A source whose samples a profile leaves out.
struct OtherSource {
  std::string name;
  std::vector<std::string> values;  // their names
  std::uint64_t samples = 0;
  bool operator==(const OtherSource&) const = default;
};

// A named, aggregated profile: what every view and exporter starts from. Its size depends on the
// number of distinct stacks, in each span of time where it has spans, and not on that of samples.
class Profile {
 public:
  // The kind of input, where that is no recording: "folded stacks". The profile has names and
  // weights then, and neither a header nor statistics.
  std::string input;
  recording::Header header;
  recording::WeightUnit unit = recording::WeightUnit::kTicks;
  std::string source;  // the names of those that were chosen, with commas between; empty: no record
  std::string value;   // its name
  bool is_of_ticks = true;  // samples are outcomes of ticks of vCPUs, as Statistics counts them
  bool has_times = true;    // false: samples have numbers in place of times
  bool has_seconds = true;  // false: or times of a clock whose rate is not known

  StringTable strings;
  std::vector<Function> functions;   // by FunctionId
  std::vector<Frame> frames;         // by FrameId
  StackTree stacks;                  // root first: a child is called by its parent
  std::vector<Owner> owners;         // by OwnerId, each once
  std::vector<SampleGroup> samples;  // by stack, then by owner

  // The names that threads of samples have at the end, and main threads of their processes. By pid
  // and tid: some inputs number the threads of each process.
  std::map<std::pair<std::uint32_t, std::uint32_t>, StringId> last_names;
  bool knows_processes = false;  // some sample of the recording, before filters, says its process

  // Sums over the whole recording, before filters. due = sampled + idle + skipped + failed + lost.
  recording::SampleStatistics totals;
  // The ends of stacks that are not complete, most samples first. Empty where a filter left samples
  // out: it would take the names of code that nobody asked for.
  std::vector<BrokenEnd> broken_ends;
  std::optional<recording::Statistics> recorded;  // absent where the writer died
  std::set<std::string> process_names;            // of all samples, the filter's or not
  std::uint64_t filtered_weight = 0;  // left out by the filter: totals = samples + filtered
  std::uint64_t filtered_samples = 0;
  std::uint64_t filtered_sampled = 0;  // of these, samples with the disposition kSampled
  // Sources that were not chosen: their samples are not in `samples`, nor in any sum.
  std::vector<OtherSource> other_sources;
  std::uint64_t unique_stacks = 0;  // distinct recorded stacks of address level, after filters
  // Samples whose innermost frame is kernel code, after filters: by what has named that, most
  // first, and without a name.
  std::vector<NamedBy> kernel_files;
  std::uint64_t unnamed_kernel_samples = 0;
  std::uint64_t unknown_frames = 0;   // frames over all sampled weight without a function …
  std::uint64_t all_frames = 0;       // … of so many
  std::uint64_t symbol_ns = 0;        // time the builder spent in the FrameNamer
  std::string damage;                 // what the reader says is missing
  std::vector<std::string> warnings;  // that the writer recorded
  std::vector<std::string> left_out;  // what the reader left out, for it is beyond its bounds

  [[nodiscard]] std::string_view name(const Frame& frame) const {
    return strings[functions[frame.function].name];
  }
  [[nodiscard]] std::string_view name(FrameId frame) const { return name(frames[frame]); }
  [[nodiscard]] const Owner& owner_of(const SampleGroup& group) const {
    return owners[group.owner];
  }
  [[nodiscard]] bool is_sampled(const SampleGroup& group) const {
    return owner_of(group).disposition == wire::Disposition::kSampled;
  }
  // No sample of the recording is left out.
  [[nodiscard]] bool is_whole() const { return filtered_samples == 0 && other_sources.empty(); }
  // The name of a process at the end: its main thread's, or where that has none the first one of
  // its other threads; absent: no sample is of the process.
  [[nodiscard]] std::optional<StringId> last_name_of_process(std::uint32_t pid) const;
  // Weight of the groups with that disposition.
  [[nodiscard]] Weight weight_of(wire::Disposition disposition) const;
};

}  // namespace ringside::profile
