#pragma once

#include <string>
#include <vector>

#include "app/disk_import.h"
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
    return "import perf.data -o ringside.data\n"
           "import samples.tcg --kernel my-kernel.elf\n"
           "import --input-format redox-b profiling-0 profiling-1 --kernel kernel --cpu-freq 2.2\n"
           "import --disk guest.qcow2:2 --path /root/perf.data";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  void add_disk_options(App& app);
  [[nodiscard]] Result<void> import_input();

  app::ImportRequest request_;
  app::DiskRequest disk_;
  std::string output_ = "ringside.data";
};

}  // namespace ringside::cli
