#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/perf_script/text_cache.h"
#include "recording/writer.h"

namespace ringside::importers::perf_script {

// Whose samples they are: looks up what stands before a sample's time, and tells the recording the
// names of threads.
class Owners {
 public:
  // The writer must outlive it.
  explicit Owners(recording::Writer& writer) : writer_(writer) {}

  struct Known {
    std::optional<std::uint32_t> pid;
    std::optional<std::uint32_t> tid;
    VcpuId vcpu = recording::kNoVcpu;
    bool is_redox = false;
  };
  // Valid until the next call. Errors: the writer's.
  [[nodiscard]] Result<const Known*> find(std::string_view text, std::uint64_t time_ns);

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Entry {
    Known known;
    std::uint32_t thread = kNone;  // in named_; kNone: it has no name
    std::uint32_t comm = 0;        // in comms_
  };
  [[nodiscard]] Entry read(std::string_view text);
  void forget();

  recording::Writer& writer_;
  TextCache<Entry, 1 << 17> entries_;
  std::unordered_map<std::uint64_t, std::uint32_t> threads_;  // by pid and tid
  std::vector<std::uint32_t> named_;                          // by thread: the comm that was told
  std::unordered_map<std::string, std::uint32_t> numbers_;    // of comms
  std::vector<std::string> comms_;
};

}  // namespace ringside::importers::perf_script
