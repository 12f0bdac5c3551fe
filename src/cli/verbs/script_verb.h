#pragma once

#include <string>
#include <vector>

#include "app/open_profile.h"
#include "cli/verbs/report_screen.h"
#include "cli/verbs/verb.h"
#include "exporters/perf/script_options.h"

namespace ringside::cli {

class ScriptVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "script"; }
  [[nodiscard]] std::string summary() const override {
    return "Print every sample with its stack, as 'perf script' does";
  }
  [[nodiscard]] std::string examples() const override {
    return "script\n"
           "script -i perf.data --comm dd\n"
           "script -F +srcline,-period --max-stack 5\n"
           "script | inferno-collapse-perf | inferno-flamegraph > kernel.svg";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  void add_content(App& what);

  app::ReaderSettings settings_;
  exporters::ScriptOptions options_;
  ReportScreen screen_;
  std::vector<std::string> fields_;
  std::vector<std::string> symbols_;
  std::uint32_t max_stack_ = 0;
  bool header_ = false;
  bool from_first_ = false;
  bool from_previous_ = false;
};

}  // namespace ringside::cli
