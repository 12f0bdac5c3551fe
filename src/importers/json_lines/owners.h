#pragma once

#include <map>
#include <string>
#include <utility>

#include "importers/json_lines/line.h"
#include "recording/writer.h"

namespace ringside::importers::json_lines {

// The processes and threads of samples and events, and what they are called.
class Owners {
 public:
  explicit Owners(recording::Writer& writer) : writer_(writer) {}

  // Fills what the line has of them. `has_host_time`: its time is of the clock that names have.
  // Errors: the writer's.
  [[nodiscard]] Result<void> set(const Item& line, bool has_host_time, recording::SampleInfo& info);

 private:
  static constexpr std::size_t kMostNames = 1 << 20;
  // A thread's name in lines from a time to another one, which holds until the next such time.
  struct Called {
    std::string comm;
    std::string cgroup;
    std::uint64_t last_ns = 0;
    bool is_written = false;
  };
  using Names = std::map<std::uint64_t, Called>;  // by the first time
  [[nodiscard]] Result<void> call(const recording::ThreadName& name);
  [[nodiscard]] Result<void> write(recording::ThreadName name, std::uint64_t time_ns,
                                   Called& called);
  [[nodiscard]] std::uint32_t stand_in(std::string_view comm);

  recording::Writer& writer_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Names> called_;  // by process and thread
  std::size_t name_count_ = 0;                                       // of all threads
  std::map<std::string, std::uint32_t, std::less<>> stand_ins_;      // of names without a number
  std::uint64_t latest_ns_ = 0;                                      // of host times
};

}  // namespace ringside::importers::json_lines
