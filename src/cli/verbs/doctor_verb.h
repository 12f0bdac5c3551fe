#pragma once

#include <string>

#include "cli/verbs/verb.h"

namespace ringside::cli {

class DoctorVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "doctor"; }
  [[nodiscard]] std::string summary() const override {
    return "Say what this machine, its QEMUs and a recording can do, and what is missing";
  }
  [[nodiscard]] std::string examples() const override {
    return "doctor\n"
           "doctor -- qemu-system-x86_64 -enable-kvm -kernel my-kernel.elf\n"
           "doctor -i ringside.data\n"
           "doctor --plugin\n"
           "doctor --cache";
  }
  void add_options(App& app) override;
  [[nodiscard]] bool takes_command() const override { return true; }
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  std::string input_;
  bool only_plugin_ = false;
  bool cache_ = false;
  bool clear_cache_ = false;
};

}  // namespace ringside::cli
