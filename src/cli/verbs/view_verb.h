#pragma once

#include "app/view.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

class ViewVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "view"; }
  [[nodiscard]] std::string summary() const override {
    return "Open a recording in the Firefox Profiler, or in a page that needs no network";
  }
  [[nodiscard]] std::string examples() const override {
    return "view\n"
           "view --no-open --comm dd disk.data\n"
           "view --svg\n"
           "view --speedscope";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  app::ViewRequest request_;
  std::uint32_t port_ = 0;
  bool no_open_ = false;
  bool svg_ = false;
  bool speedscope_ = false;
};

}  // namespace ringside::cli
