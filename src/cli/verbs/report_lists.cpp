#include "cli/verbs/report_lists.h"

#include "app/input_lists.h"
#include "cli/options.h"

namespace ringside::cli {

void ReportLists::add_to(App& app) {
  Option* const events = app.add_flag(
      "--events", events_,
      "List the events or sources of samples, as 'perf evlist' does; with -v their rates and "
      "values, too");
  app.add_flag("--build-ids", build_ids_,
               "List the build id and the path of each file with samples, as 'perf buildid-list' "
               "does")
      ->excludes(events);
}

Result<void> ReportLists::write(const app::ReaderSettings& settings, const ReportScreen& screen,
                                bool detail) const {
  return screen.show([&](exporters::Sink& sink) {
    const app::InputList list = events_ ? app::InputList::kEvents : app::InputList::kBuildIds;
    return app::write_input_list(settings, list, detail, sink);
  });
}

}  // namespace ringside::cli
