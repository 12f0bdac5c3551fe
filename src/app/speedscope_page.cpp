#include "app/speedscope_page.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/contained_file.h"
#include "base/user_cache.h"
#include "launch/captured_output.h"

namespace ringside::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInPackage = "dist/release";

constexpr const char* kIndex = "index.html";

Result<SpeedscopePage> open_page(const fs::path& place) {
  const UniqueFd folder(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return fail_errno(place.string());
  SpeedscopePage page;
  page.folder = path_of(folder.get());
  const auto add = [&page](const std::string& name) -> Result<void> {
    const fs::path path = page.folder / name;
    RINGSIDE_ASSIGN(const UniqueFd file, open_below(page.folder, path));
    RINGSIDE_ASSIGN(page.files[name], MappedFile::map(file.get(), path.string()));
    return {};
  };
  RINGSIDE_TRY(add(kIndex));
  std::error_code error;
  for (fs::directory_iterator entry(page.folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == kIndex || entry->symlink_status(error).type() == fs::file_type::directory) continue;
    if (auto added = add(name); !added) page.refused.push_back(added.error().message);
  }
  return page;
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

// Empty: there is no npm. It reads no settings of the working folder.
fs::path global_modules() {
  constexpr std::chrono::seconds kPatience(10);
  auto printed = launch::capture_output("npm", {"root", "-g"}, kPatience, "/");
  if (!printed) return {};
  return printed->substr(0, printed->find('\n'));
}

}  // namespace

Result<SpeedscopePage> open_speedscope_page(const fs::path& given) {
  if (!given.empty()) {
    auto page = open_page(given);
    if (page) return page;
    return fail(ErrorCode::kNotFound, "--speedscope-page {}: {}", given.string(),
                page.error().message);
  }
  std::vector<fs::path> places;
  if (const char* const named = std::getenv("RINGSIDE_SPEEDSCOPE"); named != nullptr && *named != 0)
    places.emplace_back(named);
  const fs::path package = fs::path("speedscope") / kInPackage;
  places.push_back("/usr/local/lib/node_modules" / package);
  places.push_back("/usr/lib/node_modules" / package);
  places.emplace_back("/usr/share/ringside/speedscope");
  for (const fs::path& folder : in_cache()) places.push_back(folder);
  for (const fs::path& place : places)
    if (auto page = open_page(place)) return page;
  if (const fs::path modules = global_modules(); modules.is_absolute())
    if (auto page = open_page(modules / package)) return page;
  return fail(ErrorCode::kNotFound,
              "speedscope's page is not installed: 'npm install -g speedscope' installs it, and "
              "--speedscope-page DIR names a folder that has it");
}

}  // namespace ringside::app
