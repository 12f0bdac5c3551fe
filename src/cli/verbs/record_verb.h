#pragma once

#include "app/launch_end.h"
#include "app/settings/sampling_settings.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

class RecordVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "record"; }
  [[nodiscard]] std::string summary() const override {
    return "Sample a guest until Ctrl-C, a limit, or its end, into a recording";
  }
  [[nodiscard]] std::string examples() const override {
    return "record -- qemu-system-x86_64 -kernel my-kernel.elf -serial stdio\n"
           "record -F 1000 -- make qemu\n"
           "record --gdb localhost:1234 --kernel vmlinux --duration 10";
  }
  void add_options(App& app) override;
  [[nodiscard]] bool takes_command() const override { return true; }
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;
  [[nodiscard]] int exit_status(const Result<void>& result) const override {
    return launches_ ? app::exit_status(result, end_) : Verb::exit_status(result);
  }

 private:
  [[nodiscard]] Result<void> export_to_perf(const std::string& recording) const;

  app::SamplingSettings settings_;
  bool launches_ = false;
  app::LaunchEnd end_;
  std::string output_ = "ringside.data";
};

}  // namespace ringside::cli
