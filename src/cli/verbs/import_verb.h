#pragma once

#include "app/import_session.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

class ImportVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "import"; }
  [[nodiscard]] std::string summary() const override {
    return "Make a recording of what the TCG plugin alone, or another profiler, has written";
  }
  [[nodiscard]] std::string examples() const override {
    return "import --format tcg samples.tcg --kernel my-kernel.elf -o ringside.data\n"
           "import --format maestro qemu-profile --kernel maestro";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  app::ImportRequest request_;
  std::string input_;
  std::string output_ = "ringside.data";
  std::string format_;
};

}  // namespace ringside::cli
