#include "app/speedscope_page.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "base/user_cache.h"
#include "launch/captured_output.h"

namespace ringside::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInPackage = "dist/release";

bool is_page(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "index.html", ignored);
}

// Newest first.
std::vector<fs::path> in_cache() {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(user_cache_folder() / "viewers", error), end;
       !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with("speedscope-"))
      found.push_back(entry->path() / kInPackage);
  std::sort(found.rbegin(), found.rend());
  return found;
}

// Empty: there is no npm.
fs::path global_modules() {
  constexpr std::chrono::seconds kPatience(10);
  auto printed = launch::capture_output("npm", {"root", "-g"}, kPatience);
  if (!printed) return {};
  return printed->substr(0, printed->find('\n'));
}

}  // namespace

Result<fs::path> find_speedscope_page(const fs::path& given) {
  if (!given.empty()) {
    if (is_page(given)) return given;
    return fail(ErrorCode::kNotFound, "--speedscope-page {}: there is no index.html in it",
                given.string());
  }
  std::vector<fs::path> places;
  if (const char* const named = std::getenv("RINGSIDE_SPEEDSCOPE"); named != nullptr && *named != 0)
    places.emplace_back(named);
  const fs::path package = fs::path("speedscope") / kInPackage;
  places.push_back("node_modules" / package);
  places.push_back("/usr/local/lib/node_modules" / package);
  places.push_back("/usr/lib/node_modules" / package);
  places.emplace_back("/usr/share/ringside/speedscope");
  for (const fs::path& folder : in_cache()) places.push_back(folder);
  for (const fs::path& place : places)
    if (is_page(place)) return place;
  if (const fs::path modules = global_modules(); !modules.empty() && is_page(modules / package))
    return modules / package;
  return fail(ErrorCode::kNotFound,
              "speedscope's page is not installed: 'npm install -g speedscope' installs it, and "
              "--speedscope-page DIR names a folder that has it");
}

}  // namespace ringside::app
