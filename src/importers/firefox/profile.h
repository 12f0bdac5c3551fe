#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "importers/parts/faults.h"
#include "importers/parts/json_columns.h"
#include "importers/parts/json_reader.h"

// A processed profile, as columns.
namespace ringside::importers::firefox {

// A parent that cannot be: not null, and no stack in front.
inline constexpr std::uint32_t kBadIndex = kNoIndex - 1;

// Which columns of a frame have a value; in the others stands 0. A table without flags has null.
enum FrameFlag : std::uint32_t {
  kFrameIsInlined = 1,
  kFrameHasAddress = 2,  // and library
  kFrameHasCategory = 4,
  kFrameHasLine = 16,
};
// The same of a function.
enum FunctionFlag : std::uint32_t {
  kFunctionHasResource = 4,
  kFunctionHasSource = 8,
  kFunctionHasLine = 16,
};

// The tables that stacks are made of. Up to version 59 each thread has its own, later the profile
// has them once; the columns of both are the same. kNoIndex stands for null and -1.
struct Tables {
  Column<std::uint32_t> stack_parents;  // made from prefixOffset since version 66
  Column<std::uint32_t> stack_frames;
  Column<std::int64_t> frame_addresses;   // in the library; -1: none
  Column<std::uint32_t> frame_libraries;  // since version 70
  Column<std::uint32_t> frame_flags;      // since version 71: FrameFlag
  Column<std::uint32_t> frame_depths;     // of inlining; up to version 70
  Column<std::uint32_t> frame_categories;
  Column<std::uint32_t> frame_functions;
  Column<std::uint32_t> frame_lines;
  Column<std::uint32_t> function_names;  // strings
  Column<std::uint32_t> function_resources;
  Column<std::uint32_t> function_files;    // strings, up to version 57
  Column<std::uint32_t> function_sources;  // since then
  Column<std::uint32_t> function_lines;
  Column<std::uint32_t> function_flags;      // since version 75: FunctionFlag
  Column<std::uint32_t> resource_libraries;  // up to version 69
  Column<std::uint32_t> resource_names;      // strings
  Column<std::uint32_t> source_files;        // strings
  TextColumn strings;
};

enum class WeightType : std::uint8_t { kSamples, kTime, kBytes };

// Samples of a thread, or its allocations.
struct Samples {
  Column<std::uint32_t> stacks;
  Column<std::int64_t> times;  // ns since the profile's start; never back
  Column<double> weights;      // empty: all 1
  WeightType type = WeightType::kSamples;

  [[nodiscard]] std::size_t size() const { return std::min(stacks.size(), times.size()); }
};

// Kinds of samples that a thread has.
enum SampleKind : std::uint8_t { kTicks, kNativeAllocations, kJsAllocations };
inline constexpr std::size_t kSampleKinds = 3;

struct Thread {
  std::string name;
  std::string process;
  std::string pid;
  std::string tid;
  std::unique_ptr<Tables> tables;  // null where it has none of its own
  std::array<Samples, kSampleKinds> samples;
};

struct Library {
  std::string name;
  std::string path;
  std::string arch;
  std::string code_id;
};

struct Meta {
  std::optional<std::uint32_t> version;      // preprocessedProfileVersion
  std::optional<std::uint32_t> raw_version;  // that of Firefox' own format
  std::string product;
  std::string platform;
  std::string arguments;
  double interval_ms = 0;
  double start_ms = 0;      // since 1970-01-01 UTC
  double monotonic_ns = 0;  // the same moment by CLOCK_MONOTONIC; 0: not known
  std::uint32_t cpus = 0;
  bool time_is_bytes = false;
  std::vector<std::string> categories;
};

struct Profile {
  Meta meta;
  bool has_threads = false;
  std::deque<Library> libraries;
  Tables shared;
  std::deque<Thread> threads;    // that have samples
  std::size_t thread_count = 0;  // with those that have none

  TableBudget budget;
  Faults faults;
  std::optional<JsonDamage> damage;

  // Whose stacks a thread's samples have.
  [[nodiscard]] const Tables& tables_of(const Thread& thread) const {
    return thread.tables != nullptr && thread.tables->stack_frames.size() != 0 ? *thread.tables
                                                                               : shared;
  }
  [[nodiscard]] bool is_of_ringside() const { return meta.product == "ringside"; }
};

inline constexpr std::uint32_t kOldestVersion = 47;
inline constexpr std::uint32_t kNewestVersion = 75;

// Reads as much as there is. Errors: a version that is not known, a raw profile, tables that take
// too much memory.
[[nodiscard]] Result<Profile> read_profile(const Input& input);

}  // namespace ringside::importers::firefox
