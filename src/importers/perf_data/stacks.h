#pragma once

#include <cstdint>
#include <vector>

#include "base/dense_table.h"
#include "base/result.h"
#include "formats/perf_data.h"
#include "importers/perf_data/attributes.h"
#include "importers/perf_data/kernel_code.h"
#include "importers/perf_data/sample_record.h"
#include "importers/perf_data/unwinding.h"
#include "importers/perf_data/user_images.h"
#include "importers/perf_data/user_space.h"
#include "recording/writer.h"

namespace ringside::importers::perf_data {

using namespace formats::perf_data;

[[nodiscard]] PrivilegeLevel level_of(CpuMode mode);

// Makes the stacks of samples: the kernel's part of a call chain and the user's, which is taken
// from the chain, from the processor's own record of calls, or unwound. Parts that were seen before
// cost one look-up by a hash of 128 bits.
class Stacks {
 public:
  Stacks(const Features& features, KernelCode& host, KernelCode& guest, UserImages& images,
         Unwinding& unwinding)
      : features_(features), host_(host), guest_(guest), images_(images), unwinding_(unwinding) {}
  // To be called first, when the recording is there.
  void start(recording::Writer& writer) { writer_ = &writer; }

  // The stacks of a sample in `mode`, whose process has that address space. Valid until the next
  // call.
  [[nodiscard]] Result<std::span<const recording::StackRef>> of(const SampleRecord& sample,
                                                                const Attribute& attribute,
                                                                CpuMode mode,
                                                                const UserSpaces::Version& space);

 private:
  static constexpr std::size_t kMostKnown = 1 << 19;

  struct Part {
    CpuMode mode = CpuMode::kUnknown;
    std::uint64_t leaf = 0;
    Words callers;
    bool are_calls = false;  // callers are addresses of calls, not of what is behind them
  };
  void split(const SampleRecord& sample, CpuMode mode);
  void take_recorded_calls(const SampleRecord& sample, CpuMode mode);
  [[nodiscard]] Result<recording::StackRef> stack_of(const Part& part,
                                                     const UserSpaces::Version& space);
  [[nodiscard]] Result<std::uint32_t> node_of(const Part& part, const UserSpaces::Version& space);
  [[nodiscard]] Result<recording::RecordedFrame> frame_of(CpuMode mode, std::uint64_t address,
                                                          bool exact,
                                                          const UserSpaces::Version& space);

  struct Key {
    std::uint64_t low;
    std::uint64_t high;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::uint32_t node = 0;
    bool is_known = false;
  };
  struct Hash {
    std::uint64_t operator()(const Key& key) const { return key.low; }
  };
  [[nodiscard]] Key key_of(const Part& part, const UserSpaces::Version& space) const;

  const Features& features_;
  KernelCode& host_;
  KernelCode& guest_;
  UserImages& images_;
  Unwinding& unwinding_;
  recording::Writer* writer_ = nullptr;
  DenseTable<Key, Entry, Hash> known_;
  // Reused.
  std::vector<Part> parts_;
  std::vector<std::uint64_t> calls_;
  std::vector<recording::RecordedFrame> frames_;
  std::vector<recording::StackRef> stacks_;
};

}  // namespace ringside::importers::perf_data
