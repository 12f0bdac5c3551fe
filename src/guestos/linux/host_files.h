#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "elf/elf_file.h"

namespace ringside::guestos {

// The guest's files as they are on the host.
class HostFiles {
 public:
  HostFiles() = default;
  // `sysroot` (--sysroot) may be empty.
  explicit HostFiles(std::filesystem::path sysroot) : sysroot_(std::move(sysroot)) {}

  // The file at a path of the guest's. `in_guest` is what the guest's memory has of it, null where
  // that is not known: a file of another build id is not it. Null where there is none.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> in_sysroot(const std::string& path,
                                                               const elf::ElfFile* in_guest);
  // What was not used and why, for the user; empty where there is nothing to say.
  [[nodiscard]] std::string caveat() const;

 private:
  std::filesystem::path sysroot_;
  std::vector<std::string> others_;  // files of it that are not the guest's
};

}  // namespace ringside::guestos
