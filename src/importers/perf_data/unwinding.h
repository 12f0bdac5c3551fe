#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/result.h"
#include "importers/perf_data/features.h"
#include "importers/perf_data/sample_record.h"
#include "importers/perf_data/user_images.h"
#include "importers/perf_data/user_registers.h"
#include "importers/perf_data/user_space.h"
#include "recording/writer.h"
#include "unwind/user/user_unwinder.h"

namespace ringside::importers::perf_data {

// Walks the stacks that `perf record --call-graph dwarf` has copied, with ringside's own unwinder.
class Unwinding {
 public:
  Unwinding(const Features& features, UserImages& images) : features_(features), images_(images) {}
  // To be called first, when the recording is there.
  void start(recording::Writer& writer) { writer_ = &writer; }

  // Takes the user's registers and stack of a sample. False where it has none.
  [[nodiscard]] bool take(const SampleRecord& sample, std::uint64_t registers,
                          PrivilegeLevel level);
  // The stack of what was taken, through the code of that address space.
  [[nodiscard]] Result<recording::StackRef> unwind(const UserSpaces::Version& space);

 private:
  static constexpr std::size_t kMostFrames = 512;
  static constexpr std::size_t kMostBytes = 64u << 20;
  static constexpr std::size_t kMostSpaces = 1024;
  static constexpr std::size_t kMostRanges = 1 << 18;  // of all spaces

  struct Code {
    unwind::UserCode code;
    std::uint64_t last_use = 0;
  };
  [[nodiscard]] Result<const unwind::UserCode*> code_of(const UserSpaces::Version& space);

  const Features& features_;
  UserImages& images_;
  recording::Writer* writer_ = nullptr;
  unwind::UserUnwinder unwinder_{kMostFrames, kMostBytes};
  std::unordered_map<std::uint64_t, Code> spaces_;  // by version
  std::size_t ranges_ = 0;                          // at most that many are there
  std::uint64_t uses_ = 0;
  UserState state_;        // reused
  wire::Capture capture_;  // reused
};

}  // namespace ringside::importers::perf_data
