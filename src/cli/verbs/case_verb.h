#pragma once

#include <optional>

#include "cases/selection.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

// Makes and shows test cases of the unwinder: tests/unwind-cases/README.md.
class CaseVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "case"; }
  [[nodiscard]] std::string summary() const override {
    return "Make test cases of unwinding out of a recording's captures, and show them";
  }
  [[nodiscard]] std::string examples() const override {
    return "record --keep-captures -- qemu-system-x86_64 -kernel my-kernel.elf\n"
           "case list --where 'leaf=asm_*'\n"
           "case extract --sample 17,42 -o cases/my-kernel\n"
           "case show cases/my-kernel/000017.case";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  void add_selection(App& app);
  [[nodiscard]] Result<void> list() const;
  [[nodiscard]] Result<void> extract() const;
  [[nodiscard]] Result<void> show() const;

  std::string input_ = "ringside.data";
  std::string kernel_;
  std::string output_ = "case";
  std::string case_;
  cases::Selection selection_;
  App* list_ = nullptr;
  App* extract_ = nullptr;
  App* show_ = nullptr;
};

}  // namespace ringside::cli
