#pragma once

#include <optional>

#include "app/annotate.h"
#include "cli/options.h"
#include "cli/verbs/report_screen.h"
#include "cli/verbs/verb.h"
#include "exporters/annotation/text_annotation.h"

namespace ringside::cli {

class AnnotateVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "annotate"; }
  [[nodiscard]] std::string summary() const override {
    return "Show which source lines and instructions of a function its samples are at";
  }
  [[nodiscard]] std::string examples() const override {
    return "annotate\n"
           "annotate do_syscall_64 -i other.data\n"
           "annotate memcpy --source ~/linux --kernel vmlinux\n"
           "annotate schedule --format json > schedule.json";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  app::AnnotateRequest request_;
  const Option* kernel_ = nullptr;
  exporters::AnnotationOptions options_;
  ReportScreen screen_;
  std::string format_ = "text";
  std::string syntax_ = "att";
  std::optional<std::uint32_t> functions_;
};

}  // namespace ringside::cli
