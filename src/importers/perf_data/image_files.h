#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "elf/elf_file.h"
#include "importers/perf_data/features.h"

namespace ringside::importers::perf_data {

// Finds on this machine the files that a perf.data was recorded of.
class ImageFiles {
 public:
  using ElfPointer = std::shared_ptr<const elf::ElfFile>;
  // Folders as perf's own cache of build ids: ".build-id/12/34…" is a file, or a folder with "elf",
  // "kallsyms" or "vdso". In order.
  using Folders = std::vector<std::filesystem::path>;
  ImageFiles(Folders build_id_folders, const Features& features)
      : folders_(std::move(build_id_folders)), features_(features) {}

  // It was recorded on this machine, as far as it says where: a file whose build id was not
  // recorded is taken by its path.
  [[nodiscard]] bool is_same_machine() const;

  // A program or library: the file at `path` if it has that build id, or where it was not recorded
  // (empty), else one by its build id, which may hold nothing but symbols. Null: not found.
  [[nodiscard]] ElfPointer program(const std::string& path, Bytes build_id) const;
  // The code that the kernel gives to all processes: of perf's cache, or this process's own.
  [[nodiscard]] ElfPointer vdso(Bytes build_id) const;
  // Code of a kernel's module at its place; a file that is still to be linked is none. Null: not
  // found.
  [[nodiscard]] ElfPointer module(Bytes build_id) const;
  // The file of a kernel of that version and build id. Null: not found.
  [[nodiscard]] ElfPointer kernel(const std::string& release, Bytes build_id) const;
  // The text of a kernel's symbols with that build id, from perf's cache. Nothing: not found.
  [[nodiscard]] std::optional<std::filesystem::path> kallsyms(Bytes build_id) const;

 private:
  [[nodiscard]] ElfPointer by_build_id(Bytes build_id, const char* file) const;

  Folders folders_;
  const Features& features_;
};

// $PERF_BUILDID_DIR or perf's folder in the home, and the one that ringside's own exporter has
// written beside the file of that name.
[[nodiscard]] ImageFiles::Folders build_id_folders(const std::string& input_name);

// The build id of the kernel that runs here; empty where it has none.
[[nodiscard]] std::vector<std::byte> running_kernel_build_id();

}  // namespace ringside::importers::perf_data
