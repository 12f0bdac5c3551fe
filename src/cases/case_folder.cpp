#include "cases/case_folder.h"

#include <set>

#include "cases/capture_text.h"
#include "cases/entry_text.h"
#include "cases/replayer.h"
#include "cases/text_lines.h"

namespace ringside::cases {
namespace {

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Lines "image NAME FILE LOAD-BIAS" and "entries FILE", files relative to the case's folder.
Result<void> load_images(const std::filesystem::path& folder, ImageCache& cache, Case& into) {
  const std::filesystem::path path = folder / "images";
  RINGSIDE_ASSIGN(const auto file, MappedFile::open(path));
  TextLines lines(text_of(*file), path.string());
  while (const auto words = lines.next()) {
    if ((*words)[0] == "entries" && words->size() == 2) {
      const std::filesystem::path entries = folder / (*words)[1];
      RINGSIDE_ASSIGN(const auto text, MappedFile::open(entries));
      RINGSIDE_ASSIGN(into.entries,
                      parse_entries(text_of(*text), into.capture.arch, entries.string()));
      continue;
    }
    const auto bias = words->size() == 4 ? to_number((*words)[3]) : std::nullopt;
    if ((*words)[0] != "image" || !bias)
      return lines.error("neither 'image NAME FILE LOAD-BIAS' nor 'entries FILE'");
    elf::Image image;
    image.name = (*words)[1];
    image.load_bias = *bias;
    RINGSIDE_ASSIGN(image.file, cache.open(folder / (*words)[2]));
    into.images.add(std::move(image));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const elf::ElfFile>> ImageCache::open(const std::filesystem::path& path) {
  const std::filesystem::path key = path.lexically_normal();
  auto found = files_.find(key);
  if (found == files_.end()) {
    RINGSIDE_ASSIGN(auto file, elf::ElfFile::open(key));
    found = files_.emplace(key, std::move(file)).first;
  }
  return found->second;
}

Result<std::unique_ptr<Case>> load_case(const std::filesystem::path& folder, ImageCache& cache) {
  auto loaded = std::make_unique<Case>();
  RINGSIDE_ASSIGN(const auto registers, MappedFile::open(folder / "registers"));
  RINGSIDE_ASSIGN(loaded->capture,
                  parse_registers(text_of(*registers), (folder / "registers").string()));
  RINGSIDE_ASSIGN(const auto memory, MappedFile::open(folder / "memory"));
  RINGSIDE_ASSIGN(const auto bytes, MappedFile::open(folder / "memory.bin"));
  RINGSIDE_TRY(parse_memory(text_of(*memory), bytes->bytes(), (folder / "memory").string(),
                            loaded->capture));
  RINGSIDE_TRY(load_images(folder, cache, *loaded));
  const std::filesystem::path expected = folder / "expected";
  RINGSIDE_ASSIGN(const auto text, MappedFile::open(expected));
  RINGSIDE_ASSIGN(loaded->expected, parse_expected(text_of(*text), expected.string()));
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
