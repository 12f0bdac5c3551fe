#pragma once

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
           "profile --one-shot --show-addresses --gdb ./gdb.sock --kernel my-kernel.elf";
  }
  void add_options(App& app) override;
  [[nodiscard]] bool takes_command() const override { return true; }
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  app::SamplingSettings settings_;
  app::ReaderSettings reader_;
  exporters::ExportOptions style_;
  const App* output_section_ = nullptr;
  std::string output_;
  bool one_shot_ = false;
};

}  // namespace ringside::cli
