#include "cli/verbs/report_screen.h"

#include <cstdlib>

#include "app/messages.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "exporters/report/wrapped_comments.h"

namespace ringside::cli {
namespace {

using Write = std::function<Result<void>(exporters::Sink&)>;

Result<void> fill(exporters::FileSink& sink, bool colours, std::size_t width, const Write& write) {
  if (colours) sink.use_colours();
  if (width == 0) {
    RINGSIDE_TRY(write(sink));
  } else {
    exporters::WrappedComments wrapped(sink, width);
    RINGSIDE_TRY(write(wrapped));
    RINGSIDE_TRY(wrapped.finish());
  }
  return sink.commit();
}

}  // namespace

void ReportScreen::add_to(App& app) {
  app.add_flag("--stdio", stdio,
               "On a terminal, too, the whole text as in a pipe: every row and column, no pager, "
               "no colour");
  add_pager_to(app);
  app.add_option("--color,--colour", color,
                 "Colour the shares; auto: on a terminal, unless $NO_COLOR is set")
      ->type_name("WHEN")
      ->one_of({"auto", "always", "never"})
      ->capture_default_str();
}

void ReportScreen::add_pager_to(App& app) {
  app.add_flag("--no-pager", no_pager,
               "Write to the terminal itself, not through $RINGSIDE_PAGER, $PAGER or less");
}

bool ReportScreen::is_terminal() const { return !stdio && output_is_terminal(); }

std::size_t ReportScreen::width() const { return is_terminal() ? line_width() : 0; }

bool ReportScreen::wants_colours(const std::string& pager) const {
  if (color != "auto") return color == "always";
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_refused = no_color != nullptr && *no_color != '\0';
  const bool is_dumb = terminal == nullptr || terminal == std::string_view("dumb");
  return is_terminal() && !is_refused && !is_dumb && (pager.empty() || pager_shows_colours(pager));
}

Result<void> ReportScreen::show(const Write& write) const {
  const std::string pager = is_terminal() && !no_pager ? wanted_pager() : std::string();
  if (!pager.empty()) {
    RINGSIDE_ASSIGN(auto running, Pager::start(pager));
    Result<void> written;
    {
      auto sink = exporters::FileSink::to_stream(running.take_input(), "to the pager");
      written = fill(sink, wants_colours(pager), width(), write);
    }
    if (running.wait()) {
      // Who leaves the pager early has seen enough.
      if (!written && written.error().code == ErrorCode::kClosed) return {};
      return written;
    }
    app::say("ringside: the pager '" + pager + "' cannot be run; the report is written without it");
  }
  RINGSIDE_ASSIGN(auto sink, exporters::FileSink::create("-"));
  return fill(sink, wants_colours({}), width(), write);
}

}  // namespace ringside::cli
