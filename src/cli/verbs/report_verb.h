#pragma once

#include "app/open_profile.h"
#include "cli/verbs/report_fields.h"
#include "cli/verbs/report_lists.h"
#include "cli/verbs/report_screen.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

class Option;

class ReportVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "report"; }
  [[nodiscard]] std::string summary() const override {
    return "Show where a recording's time went, by process, function and vCPU";
  }
  [[nodiscard]] std::string examples() const override {
    return "report\n"
           "report --no-children --cpu 0\n"
           "report --sort tgid,dso --comm dd,sh\n"
           "report -g caller,1 --percent-limit 5 -i other.data\n"
           "report -g none -n --dsos kernel\n"
           "report --format json > report.json";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  void add_content(App& what);
  void add_columns(App& columns);
  void add_trees(App& trees);
  void add_rows(App& rows);

  // For a table for people and one for programs.
  [[nodiscard]] Result<void> set_options(const profile::Profile& profile,
                                         exporters::ReportOptions& options) const;
  [[nodiscard]] Result<void> set_trees(const profile::Profile& profile,
                                       exporters::ReportOptions& options) const;
  void limit_stacks(const exporters::ReportOptions& options, profile::Profile& profile) const;
  [[nodiscard]] Result<void> write_data(profile::Profile& profile) const;
  [[nodiscard]] Result<void> write_text(profile::Profile& profile) const;

  app::ReaderSettings settings_;
  ReportLists lists_;
  ReportScreen screen_;
  std::string format_ = "text";
  bool header_ = false;
  bool header_only_ = false;
  bool verbose_ = false;
  bool per_vcpu_ = false;
  bool no_vcpus_ = false;
  ColumnChoice columns_;
  std::string call_graph_;
  std::vector<const Option*> tree_options_;
  std::vector<const Option*> text_only_;  // options that a table for programs does not take
  bool inverted_ = false;
  std::uint32_t max_stack_ = 0;
  std::optional<double> percent_limit_;
  std::size_t rows_ = 0;
  exporters::RowFilter filter_;
  bool only_with_parent_ = false;
  std::string separator_;
  std::string parent_ = kDefaultParent;
};

}  // namespace ringside::cli
