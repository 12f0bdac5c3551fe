#include "app/view.h"

#include "app/browser.h"
#include "app/loopback_server.h"
#include "app/messages.h"
#include "app/outputs.h"
#include "app/signals.h"
#include "app/speedscope_page.h"
#include "exporters/flamegraph/script_hash.h"
#include "launch/private_folder.h"

namespace ringside::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProfiler = "https://profiler.firefox.com";

// speedscope's page has code and WebAssembly of its own, and makes styles while it runs.
constexpr const char* kSpeedscopePolicy =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

// A flame graph runs its own script and no other, and asks for nothing.
std::string flamegraph_policy() {
  return "default-src 'none'; script-src 'sha256-" + exporters::flamegraph_script_hash() +
         "'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
         "frame-ancestors 'none'";
}

// A link, and the files that it needs, by their names in its URL.
struct Site {
  std::map<std::string, ServedFile> files;
  std::string link;
};

// A URL as a part of another one's path.
std::string url_encoded(std::string_view url) {
  std::string text;
  for (const char c : url)
    text +=
        c == ':' || c == '/' ? fmt::format("%{:02X}", static_cast<unsigned>(c)) : std::string(1, c);
  return text;
}

Result<std::shared_ptr<const MappedFile>> make_file(const ViewRequest& request,
                                                    const fs::path& folder,
                                                    const exporters::Format& format,
                                                    const char* name) {
  const fs::path path = folder / name;
  RINGSIDE_TRY(write_export(request.settings, path, format, {}));
  return MappedFile::open(path);
}

Result<Site> firefox_site(const ViewRequest& request, const fs::path& folder,
                          const std::string& url) {
  constexpr const char* kName = "profile.json";
  RINGSIDE_ASSIGN(auto file,
                  make_file(request, folder, *exporters::format_named("firefox"), kName));
  say("ringside: the browser asks whether " + std::string(kProfiler) +
      " may read from this machine: allow it. The page needs a network; --svg and --speedscope "
      "need none");
  return Site{{{kName, {std::move(file), "application/json", "gzip", ""}}},
              std::string(kProfiler) + "/from-url/" + url_encoded(url + kName)};
}

Result<Site> svg_site(const ViewRequest& request, const fs::path& folder, const std::string& url) {
  constexpr const char* kName = "flamegraph.svg";
  RINGSIDE_ASSIGN(auto file, make_file(request, folder, *exporters::format_named("svg"), kName));
  return Site{{{kName, {std::move(file), "image/svg+xml", "", flamegraph_policy()}}}, url + kName};
}

const char* type_of(const fs::path& file) {
  const std::map<std::string, const char*> kTypes = {{".html", "text/html; charset=utf-8"},
                                                     {".js", "text/javascript"},
                                                     {".css", "text/css"},
                                                     {".json", "application/json"},
                                                     {".svg", "image/svg+xml"},
                                                     {".png", "image/png"},
                                                     {".ico", "image/x-icon"},
                                                     {".wasm", "application/wasm"},
                                                     {".woff2", "font/woff2"}};
  const auto type = kTypes.find(file.extension().string());
  return type == kTypes.end() ? "application/octet-stream" : type->second;
}

Result<Site> speedscope_site(const ViewRequest& request, const fs::path& folder,
                             const std::string& url) {
  RINGSIDE_ASSIGN(const SpeedscopePage page, open_speedscope_page(request.speedscope_page));
  say("ringside: speedscope's page is from " + page.folder.string());
  for (const std::string& refused : page.refused) say("ringside: not served: " + refused);
  Site site;
  for (const auto& [name, file] : page.files)
    site.files[name] = {file, type_of(name), "", kSpeedscopePolicy};
  constexpr const char* kName = "ringside-profile";
  RINGSIDE_ASSIGN(auto file,
                  make_file(request, folder, *exporters::format_named("speedscope"), kName));
  site.files[kName] = {std::move(file), "application/octet-stream", "", ""};
  site.link = url + "index.html#profileURL=" + kName;
  return site;
}

Result<Site> make_site(const ViewRequest& request, const fs::path& folder, const std::string& url) {
  switch (request.page) {
    case ViewPage::kSvg:
      return svg_site(request, folder, url);
    case ViewPage::kSpeedscope:
      return speedscope_site(request, folder, url);
    default:
      return firefox_site(request, folder, url);
  }
}

// The file has to stay while the browser reads it.
Result<std::optional<LinkFile>> open_link(const ViewRequest& request, const std::string& link,
                                          const fs::path& folder) {
  if (!request.opens_browser || !has_screen()) {
    say("ringside: open the link in a browser of this machine; Ctrl-C ends");
    return std::nullopt;
  }
  RINGSIDE_ASSIGN(auto file, LinkFile::create(link, folder));
  say(open_in_browser(file.path())
          ? "ringside: opening the link in a browser; Ctrl-C ends"
          : "ringside: there is no xdg-open: open the link in a browser; Ctrl-C ends");
  return file;
}

}  // namespace

Result<void> view(const ViewRequest& request) {
  RINGSIDE_ASSIGN(const auto folder, launch::PrivateFolder::create());
  RINGSIDE_ASSIGN(auto server, LoopbackServer::listen(request.port, kProfiler));
  RINGSIDE_ASSIGN(const Site site, make_site(request, folder.path(), server.url()));
  const Signals signals;
  const auto is_over = [] { return Signals::interrupted() || Signals::terminated(); };
  RINGSIDE_TRY(write_to("-", [&](exporters::Sink& sink) { return sink.write(site.link + "\n"); }));
  RINGSIDE_ASSIGN(const auto link_file, open_link(request, site.link, folder.path()));
  return server.serve(site.files, is_over);
}

}  // namespace ringside::app
