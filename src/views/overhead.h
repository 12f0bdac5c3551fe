#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace ringside::views {

// Properties that distinguish rows: perf's sort keys.
enum class SortKey : std::uint8_t {
  kComm,
  kCgroup,
  kPid,
  kTid,   // with its process: some inputs number the threads of each
  kTask,  // perf's pid: the same, or the main thread where none is known
  kVcpu,
  kDso,     // the image, perf's "dynamic shared object"
  kSymbol,  // the function and its image
  kSourceLine,
  kTime,    // the span of time
  kParent,  // the function nearest the leaf that OverheadOptions::is_parent is true of
};

// One line of the table. A field that no key asks for is empty. Weights are in Profile::unit.
struct OverheadRow {
  std::optional<profile::FunctionId> function;
  std::optional<profile::FunctionId> parent;
  profile::StringId image = 0;
  profile::StringId line = 0;  // of the source
  profile::StringId comm = 0;
  profile::StringId cgroup = 0;
  std::optional<std::uint32_t> pid;  // with kTid and kTask, too
  std::optional<std::uint32_t> tid;  // with kTask of the main thread where none is known
  std::optional<VcpuId> vcpu;
  std::optional<std::uint64_t> span_ns;         // when it began
  profile::Kind kind = profile::Kind::kKernel;  // interrupt only where every frame of it was one
  profile::Weight self = 0;                     // weight of samples it was the leaf of
  profile::Weight total = 0;  // weight of samples it stood in, each counted once (recursion too)
  profile::Weight self_in_kernel = 0;  // the part of self that ran in the kernel
  profile::Weight self_in_user = 0;    // … and in user code
  std::uint64_t self_samples = 0;
  std::uint32_t depth = 0;  // callers of its outermost frame, of all its frames the fewest
  bool inlined = false;     // into others, wherever it stood
};

// All samples of a profile by the keys, or those of one vCPU.
struct OverheadSection {
  std::optional<VcpuId> vcpu;  // absent: all together
  std::vector<OverheadRow> rows;
  profile::Weight sampled = 0;  // weights; self adds up to `sampled`
  profile::Weight idle = 0;
  profile::Weight skipped = 0;
  profile::Weight failed = 0;
  std::uint64_t extent = 0;   // of the groups of `sampled`: percentages are of it
  std::uint64_t samples = 0;  // those of `sampled`
};

struct OverheadTable {
  OverheadSection all;
  std::vector<OverheadSection> per_vcpu;  // in order of vCPU, only those with any sample
};

struct OverheadOptions {
  enum class Sort { kSelf, kTotal } sort = Sort::kSelf;
  bool per_vcpu = true;
  std::vector<SortKey> keys = {SortKey::kSymbol};
  std::vector<bool> is_parent = {};  // by FunctionId
  bool only_with_parent = false;     // rows of samples that have one; shares are of all
  bool inlined_rows =
      true;  // of inlined functions; else their time is the function's that has them
};

// Rows by weight, the heaviest first, as RowOrder has it. A row's part in the kernel and that in
// user code need not add up to it: firmware is neither.
[[nodiscard]] OverheadTable make_overhead(const profile::Profile& profile,
                                          const OverheadOptions& options = {});

}  // namespace ringside::views
