#include "guestos/program_files.h"

#include <elf.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "kernel_image/open_elf.h"

namespace ringside::guestos {
namespace {

// Anything else is not even opened: boot images would be unpacked.
bool has_elf_magic(const std::filesystem::path& path) {
  std::array<char, SELFMAG> magic{};
  std::ifstream file(path, std::ios::binary);
  return file.read(magic.data(), magic.size()) && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

Result<std::vector<std::filesystem::path>> elf_files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  Walk walk(folder, std::filesystem::directory_options::skip_permission_denied, error);
  for (; !error && walk != Walk(); walk.increment(error)) {
    std::error_code ignored;
    if (!walk->is_regular_file(ignored) || !has_elf_magic(walk->path())) continue;
    if (paths.size() == ProgramFiles::kMostPrograms)
      return fail(ErrorCode::kUnsupported,
                  "{}: has more than {} ELF files; is that the folder of the guest's programs?",
                  folder.string(), ProgramFiles::kMostPrograms);
    paths.push_back(walk->path());
  }
  if (error) return fail(ErrorCode::kNotFound, "{}: {}", folder.string(), error.message());
  // The order ensures that always the same one of equal programs is taken.
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::uint64_t text_hash(Bytes text) { return XXH3_64bits(text.data(), text.size()); }

Result<std::shared_ptr<ProgramFiles>> ProgramFiles::open(const std::filesystem::path& folder) {
  // A recorded path must lead to the file from another folder too.
  std::error_code ignored;
  RINGSIDE_ASSIGN(const auto paths, elf_files_in(std::filesystem::absolute(folder, ignored)));
  auto programs = std::make_shared<ProgramFiles>();
  for (const std::filesystem::path& path : paths) {
    const auto image = open_program(path);
    if (!image || (*image)->file->type() == ET_REL) continue;
    const auto text = (*image)->file->section(".text");
    if (!text || text->bytes.empty()) continue;
    programs->by_size_[text->size].push_back({*image, std::nullopt});
    programs->all_.push_back(*image);
  }
  if (programs->all_.empty())
    return fail(ErrorCode::kNotFound, "{}: there is no program in it: no ELF file with .text",
                folder.string());
  return programs;
}

std::shared_ptr<const UserImage> ProgramFiles::find(Bytes text) {
  const auto same_size = by_size_.find(text.size());
  if (same_size == by_size_.end()) return nullptr;
  const std::uint64_t wanted = text_hash(text);
  std::shared_ptr<const UserImage> best;
  for (Program& program : same_size->second) {
    if (!program.hash) program.hash = text_hash(program.image->file->section(".text")->bytes);
    if (*program.hash != wanted) continue;
    if (!best || program.image->file->symbols().size() > best->file->symbols().size())
      best = program.image;
  }
  return best;
}

Result<std::shared_ptr<const UserImage>> open_program(const std::filesystem::path& path) {
  RINGSIDE_ASSIGN(auto file, kernel_image::open_elf(path));
  auto image = std::make_shared<UserImage>();
  image->name = path.filename().string();
  image->file = std::move(file);
  return image;
}

std::vector<UserMapping> mappings_of(const std::shared_ptr<const UserImage>& program,
                                     std::uint64_t bias) {
  std::vector<UserMapping> mappings;
  for (const elf::Segment& segment : program->file->segments()) {
    const std::uint64_t start = segment.address.value + bias;
    if (!segment.executable || segment.memory_size == 0 || start + segment.memory_size < start)
      continue;
    mappings.push_back(
        {GuestVirt{start}, GuestVirt{start + segment.memory_size}, segment.offset, program});
  }
  return mappings;
}

}  // namespace ringside::guestos
