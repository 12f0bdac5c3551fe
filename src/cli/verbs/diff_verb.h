#pragma once

#include "app/open_profile.h"
#include "cli/verbs/report_screen.h"
#include "cli/verbs/verb.h"
#include "exporters/comparison/comparison_json.h"
#include "exporters/comparison/comparison_options.h"
#include "views/comparison/limit.h"

namespace ringside::cli {

class DiffVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "diff"; }
  [[nodiscard]] std::string summary() const override {
    return "Compare recordings, also of different builds, function by function";
  }
  [[nodiscard]] std::string examples() const override {
    return "diff before.data after.data\n"
           "diff before.data after.data --children --flamegraph diff.svg\n"
           "diff before.data after.data --fail-if 'kernel:vfs_write > +2%' --fail-if-any '> 1%'\n"
           "diff before.data after.data --format markdown > comment.md\n"
           "diff --before a1.data a2.data a3.data --after b1.data b2.data b3.data";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;
  [[nodiscard]] int exit_status(const Result<void>& result) const override {
    return result && is_passed_ ? kLimitPassed : Verb::exit_status(result);
  }

 private:
  void add_limits(App& app);
  void add_output(App& app);
  [[nodiscard]] Result<std::vector<views::ChangeLimit>> limits() const;
  [[nodiscard]] std::string why_unsure(const views::Comparison& comparison,
                                       const views::LimitBreach& breach) const;
  void judge(exporters::JudgedComparison& judged, const std::vector<views::ChangeLimit>& limits);
  [[nodiscard]] Result<void> write(const std::vector<exporters::JudgedComparison>& comparisons);
  [[nodiscard]] Result<void> check_builds() const;
  [[nodiscard]] Result<std::vector<views::Comparison>> comparisons_of_inputs() const;
  [[nodiscard]] Result<void> check_picture() const;
  [[nodiscard]] Result<void> draw() const;
  [[nodiscard]] Result<void> write_text(
      const std::vector<exporters::JudgedComparison>& comparisons);

  app::ReaderSettings settings_;
  std::vector<std::string> inputs_;
  std::vector<std::string> before_;  // several recordings of a build, each; or none
  std::vector<std::string> after_;
  ReportScreen screen_;
  std::string format_ = "text";
  std::string picture_;
  bool icicle_ = false;
  bool reverse_ = false;
  exporters::ComparisonOptions options_;
  std::optional<double> percent_limit_;
  double confidence_percent_ = 99.9;
  std::vector<std::string> limits_;
  std::vector<std::string> limits_of_any_;
  bool is_passed_ = false;
};

}  // namespace ringside::cli
