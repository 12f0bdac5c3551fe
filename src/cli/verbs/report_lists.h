#pragma once

#include "app/open_profile.h"
#include "base/result.h"
#include "cli/verbs/report_screen.h"

namespace ringside::cli {

class App;

// `report --events` and `report --build-ids`: lists in place of the table.
class ReportLists {
 public:
  void add_to(App& app);
  [[nodiscard]] bool are_wanted() const { return events_ || build_ids_; }
  // With `detail` more is written of each event. Errors: those of app::write_input_list().
  [[nodiscard]] Result<void> write(const app::ReaderSettings& settings, const ReportScreen& screen,
                                   bool detail) const;

 private:
  bool events_ = false;
  bool build_ids_ = false;
};

}  // namespace ringside::cli
