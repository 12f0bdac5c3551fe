#pragma once

#include "app/open_profile.h"
#include "cli/verbs/verb.h"
#include "exporters/format.h"

namespace ringside::cli {

class ExportVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "export"; }
  [[nodiscard]] std::string summary() const override {
    return "Write a recording in another tool's format";
  }
  [[nodiscard]] std::string examples() const override {
    return "export --format folded -o stacks.folded\n"
           "export --format folded -o - | flamegraph.pl > kernel.svg\n"
           "export --by tid -o threads.folded\n"
           "export --folded-style emerald -o emerald.folded";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  [[nodiscard]] Result<const exporters::Format*> format() const;
  [[nodiscard]] Result<void> check_options(const exporters::Format& format) const;

  app::ReaderSettings settings_;
  exporters::ExportOptions options_;
  App* style_ = nullptr;  // the options of single formats
  std::string format_;    // empty: as the output's extension says
  std::string output_ = "-";
};

}  // namespace ringside::cli
