#pragma once

#include <string>
#include <vector>

#include "app/allocations.h"
#include "cli/verbs/report_screen.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

// Who has memory: the allocations of a recording, by allocator.
class MemVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "mem"; }
  [[nodiscard]] std::string summary() const override {
    return "Show who has a kernel's memory: live, at the peak, allocated in all, leaks";
  }
  [[nodiscard]] std::string examples() const override {
    return "mem report ringside.data\n"
           "mem report --allocator malloc --order peak memtrace.bin --kernel maestro\n"
           "mem report --older-than 10s ringside.data\n"
           "mem flamegraph ringside.data -o pictures\n"
           "mem flamegraph --alloc memtrace.bin --kernel maestro";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  void add_report(App& app);
  void add_flamegraph(App& app);
  void add_choice(App& which);
  [[nodiscard]] Result<void> report();
  [[nodiscard]] Result<void> flamegraph();

  app::AllocationRequest request_;
  std::string value_;  // empty: as chosen_value() has it
  std::string measure_ = "size";
  std::string group_ = "function";
  std::string format_ = "text";
  std::vector<std::string> passing_;
  std::size_t rows_ = 0;
  std::string alloc_;  // --alloc
  app::AllocationPictures pictures_;
  ReportScreen screen_;
  App* report_ = nullptr;
  App* flamegraph_ = nullptr;
};

}  // namespace ringside::cli
