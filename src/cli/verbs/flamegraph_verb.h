#pragma once

#include "app/open_profile.h"
#include "cli/verbs/verb.h"
#include "exporters/flamegraph/svg_flamegraph.h"

namespace ringside::cli {

class FlamegraphVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "flamegraph"; }
  [[nodiscard]] std::string summary() const override {
    return "Draw a recording as an interactive flame graph, one SVG file for any browser";
  }
  [[nodiscard]] std::string examples() const override {
    return "flamegraph -o kernel.svg\n"
           "flamegraph --by pid --comm dd,md5sum -o disk.svg\n"
           "flamegraph --icicle --title fixed -i new.data -o new.svg\n"
           "flamegraph -i stacks.folded -o stacks.svg";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  [[nodiscard]] Result<void> check_folded_options() const;

  app::ReaderSettings settings_;
  exporters::FlamegraphOptions options_;
  std::string output_ = "flamegraph.svg";
  const App* picture_ = nullptr;  // the section of options
};

}  // namespace ringside::cli
