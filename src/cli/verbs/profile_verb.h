#pragma once

#include "app/launch_end.h"
#include "app/open_profile.h"
#include "app/outputs.h"
#include "app/settings/sampling_settings.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

class ProfileVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "profile"; }
  [[nodiscard]] std::string summary() const override {
    return "In one step: sample (10 ms, 5 s), print the top stacks and the statistics";
  }
  [[nodiscard]] std::string examples() const override {
    return "profile --gdb localhost:1234 --kernel vmlinux\n"
           "profile -o kernel.svg -- qemu-system-x86_64 -kernel my-kernel.elf\n"
           "profile --folded-style emerald -o emerald.folded --qmp ./qmp-socket --kernel kernel\n"
           "profile --one-shot --show-addresses --gdb ./gdb.sock --kernel my-kernel.elf\n"
           "profile --gdb .osdk-gdb-socket --kernel aster-nix-osdk-bin --samples 200 --interval "
           "0.1s -o cpu.json\n"
           "profile --parse cpu.json --cpu-mask 3 -o cpu.svg";
  }
  void add_options(App& app) override;
  [[nodiscard]] bool takes_command() const override { return true; }
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;
  [[nodiscard]] int exit_status(const Result<void>& result) const override {
    return launches_ ? app::exit_status(result, end_) : Verb::exit_status(result);
  }

 private:
  // The format of the output; null where there is none.
  [[nodiscard]] Result<const exporters::Format*> choose_format() const;
  // Writes what was profiled before.
  [[nodiscard]] Result<void> render(const std::vector<std::string>& command);
  [[nodiscard]] Result<void> write(const profile::Profile& profile,
                                   const exporters::Format& format) const;

  app::SamplingSettings settings_;
  bool launches_ = false;
  app::LaunchEnd end_;
  app::ReaderSettings reader_;
  exporters::ExportOptions style_;
  const App* output_section_ = nullptr;
  std::string output_;
  std::string format_;  // of Asterinas' profiler; empty: by the output's name
  std::string parse_;   // a file to render; empty: a guest is sampled
  bool one_shot_ = false;
};

}  // namespace ringside::cli
