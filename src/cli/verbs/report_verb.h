#pragma once

#include "app/open_profile.h"
#include "cli/verbs/report_fields.h"
#include "cli/verbs/report_screen.h"
#include "cli/verbs/verb.h"

namespace ringside::cli {

class ReportVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "report"; }
  [[nodiscard]] std::string summary() const override {
    return "Show where a recording's time went, by process, function and vCPU";
  }
  [[nodiscard]] std::string examples() const override {
    return "report\n"
           "report --children --cpu 0\n"
           "report --sort pid,comm,dso --comm dd,sh\n"
           "report -g --percent-limit 1 -i other.data\n"
           "report --format json > report.json";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  void add_content(App& what);

  app::ReaderSettings settings_;
  [[nodiscard]] Result<void> set_options(const profile::Profile& profile,
                                         exporters::ReportOptions& options) const;
  [[nodiscard]] Result<void> write_data(const profile::Profile& profile);

  ReportScreen screen_;
  std::string format_ = "text";
  bool children_ = false;
  bool header_ = false;
  bool verbose_ = false;
  bool call_graph_ = false;
  bool per_vcpu_ = false;
  bool no_vcpus_ = false;
  std::optional<double> percent_limit_;
  std::size_t rows_ = 0;
  std::vector<std::string> sort_;
  std::vector<std::string> fields_;
  std::string parent_ = kDefaultParent;
};

}  // namespace ringside::cli
