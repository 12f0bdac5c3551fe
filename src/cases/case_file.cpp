#include "cases/case_file.h"

#include <set>
#include <string_view>

#include "base/contained_file.h"
#include "base/file.h"
#include "cases/case_text.h"
#include "cases/entry_text.h"
#include "cases/replayer.h"
#include "kernel_image/open_elf.h"

namespace ringside::cases {
namespace {

namespace fs = std::filesystem;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Result<void> load_images(const fs::path& folder, const CaseText& parts, ImageCache& cache,
                         Case& into) {
  for (const CaseText::Image& named : parts.images) {
    elf::Image image;
    image.name = named.name;
    image.load_bias = named.load_bias;
    RINGSIDE_ASSIGN(image.file, cache.open(folder / named.file));
    into.images.add(std::move(image));
  }
  if (parts.entries.empty()) return {};
  const fs::path entries = folder / parts.entries;
  // Its faults are quoted, and the case may be anybody's and name any file.
  std::error_code error;
  const fs::path place = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) return fail(ErrorCode::kIo, "{}: {}", folder.string(), error.message());
  RINGSIDE_ASSIGN(const UniqueFd file, open_below(place, entries));
  RINGSIDE_ASSIGN(const auto text, MappedFile::map(file.get(), entries.string()));
  RINGSIDE_ASSIGN(into.entries, parse_entries(text_of(*text), parts.capture.arch, entries));
  return {};
}

}  // namespace

Result<std::shared_ptr<const elf::ElfFile>> ImageCache::open(const fs::path& path) {
  const fs::path key = path.lexically_normal();
  auto found = files_.find(key);
  if (found == files_.end()) {
    RINGSIDE_ASSIGN(auto file, kernel_image::open_elf(key));
    found = files_.emplace(key, std::move(file)).first;
  }
  return found->second;
}

Result<std::unique_ptr<Case>> load_case(const fs::path& path, ImageCache& cache) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return fail(ErrorCode::kFormat, "{}: a folder; a case is one file, NAME{}", path.string(),
                kCaseSuffix);
  RINGSIDE_ASSIGN(const auto file, MappedFile::open(path));
  RINGSIDE_ASSIGN(auto parts, parse_case(text_of(*file), path));
  auto loaded = std::make_unique<Case>();
  RINGSIDE_TRY(load_images(path.parent_path(), parts, cache, *loaded));
  loaded->capture = std::move(parts.capture);
  loaded->expected = std::move(parts.expected);
  return loaded;
}

std::vector<Rules> rules_of(const Case& loaded) {
  std::set<Rules> all;
  for (const elf::Image& image : loaded.images.images())
    for (const Rules rules : rules_of(*image.file)) all.insert(rules);
  return {all.begin(), all.end()};
}

Replay replay(const Case& loaded, Rules rules) {
  Replayer replayer(loaded.images, loaded.entries, tables_of(rules));
  ExpectedStack stack = replayer.replay(loaded.capture);
  return {std::move(stack), replayer.statistics()};
}

}  // namespace ringside::cases
