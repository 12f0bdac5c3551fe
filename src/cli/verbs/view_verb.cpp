#include "cli/verbs/view_verb.h"

#include "cli/options.h"
#include "cli/reader_flags.h"

namespace ringside::cli {

void ViewVerb::add_options(App& app) {
  App& page = app.section("The page");
  Option* svg = page.add_flag("--svg", svg_, "A flame graph; needs no network");
  page.add_flag("--speedscope", speedscope_,
                "speedscope's own page, from this machine; needs no network")
      ->excludes(svg);
  page.add_option("--speedscope-page", request_.speedscope_page,
                  "The folder with its index.html (default: RINGSIDE_SPEEDSCOPE, then where npm "
                  "installs it globally)")
      ->type_name("DIR");
  page.add_flag("--no-open", no_open_, "Print the link only; open no browser");
  page.add_option("--port", port_, "Serve on this port of 127.0.0.1 (default: a free one)")
      ->type_name("PORT")
      ->range(1u, 65535u);
  add_reader_flags(app, request_.settings);
}

Result<void> ViewVerb::run(const std::vector<std::string>&) {
  if (!speedscope_ && !request_.speedscope_page.empty())
    return fail(ErrorCode::kUsage, "--speedscope-page goes with --speedscope");
  if (svg_) request_.page = app::ViewPage::kSvg;
  if (speedscope_) request_.page = app::ViewPage::kSpeedscope;
  request_.port = static_cast<std::uint16_t>(port_);
  request_.opens_browser = !no_open_;
  return app::view(request_);
}

}  // namespace ringside::cli
