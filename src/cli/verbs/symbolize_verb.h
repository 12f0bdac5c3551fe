#pragma once

#include "app/settings/symbol_settings.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

// Functions and source lines of addresses, as addr2line and llvm-symbolizer print them.
class SymbolizeVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "symbolize"; }
  [[nodiscard]] std::string summary() const override {
    return "Show the functions, inlined calls and source lines at addresses of a file";
  }
  [[nodiscard]] std::string examples() const override {
    return "symbolize -e vmlinux ffffffff81123456\n"
           "symbolize -e vmlinux < addresses.txt";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  std::string file_;
  std::vector<std::string> addresses_;
  app::SymbolSettings settings_;
  bool show_addresses_ = false;
};

}  // namespace ringside::cli
