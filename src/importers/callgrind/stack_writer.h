#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "importers/callgrind/stack_estimate.h"
#include "importers/callgrind/texts.h"
#include "recording/writer.h"

namespace ringside::importers::callgrind {

// Puts stacks into a recording, each as one sample.
class StackWriter {
 public:
  StackWriter(const CallGraph& graph, const Texts& texts, recording::Writer& writer)
      : graph_(graph), texts_(texts), writer_(writer), functions_(graph.function_count()) {}

  // The name of the process that threads with a number are of. Errors: the writer's.
  [[nodiscard]] Result<void> name_processes(std::string_view name);
  [[nodiscard]] Result<void> add(const EstimatedStack& stack);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t cut() const { return cut_; }  // those whose callers are left out

 private:
  // In place of an object, at the functions that ringside's own export has for processes.
  enum class Role : std::uint8_t { kCode, kProcess, kImage };
  struct Known {
    std::uint32_t name = 0;  // a recorded text; 0: not looked at yet
    std::uint32_t image = 0;
    Role role = Role::kCode;
  };
  [[nodiscard]] Result<const Known*> known(std::uint32_t function);
  [[nodiscard]] Result<std::uint32_t> image_of(std::uint32_t object);
  [[nodiscard]] Result<std::uint32_t> recorded(std::uint32_t text);
  [[nodiscard]] Result<void> set_process(std::uint32_t function, recording::SampleInfo& info);
  [[nodiscard]] Result<void> collect(const EstimatedStack& stack, recording::SampleInfo& info);

  const CallGraph& graph_;
  const Texts& texts_;
  recording::Writer& writer_;
  std::vector<Known> functions_;                             // by function
  std::unordered_map<std::uint32_t, std::uint32_t> images_;  // by object
  std::unordered_map<std::uint32_t, std::uint32_t> files_;   // recorded texts
  std::unordered_map<std::uint32_t, std::uint32_t> pids_;    // stand for names of ringside's export
  std::uint64_t count_ = 0;
  std::uint64_t cut_ = 0;
  std::vector<recording::RecordedFrame> frames_;  // reused
};

}  // namespace ringside::importers::callgrind
