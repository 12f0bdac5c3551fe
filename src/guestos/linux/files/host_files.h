#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf/elf_file.h"
#include "guestos/linux/files/initramfs.h"
#include "guestos/linux/files/page_cache_file.h"

namespace ringside::guestos {

// The guest's files as they are on the host.
class HostFiles {
 public:
  HostFiles() = default;
  // `sysroot` (--sysroot) and `initramfs` (the file that the guest was booted with) may be empty.
  explicit HostFiles(std::filesystem::path sysroot, std::filesystem::path initramfs = {})
      : sysroot_(std::move(sysroot)), initramfs_path_(std::move(initramfs)) {}

  // The file at a path of the guest's. `in_guest` is what the guest's memory has of it, null where
  // that is not known: a file of another build id is not it. Null where there is none.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> in_sysroot(const std::string& path,
                                                               const elf::ElfFile* in_guest);
  // The file at a path of the guest's root file system, of whose bytes not all are in its memory.
  // That of the initramfs is the same if it has as many, and those that are known. Null where there
  // is none. The first call unpacks the initramfs.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> in_initramfs(const std::string& path,
                                                                 const CachedFile& in_guest);
  // Sources of files that were not used, and why, for the user; empty where there are none.
  [[nodiscard]] std::string caveat() const;

 private:
  std::filesystem::path sysroot_;
  std::filesystem::path initramfs_path_;
  std::optional<Result<Initramfs>> initramfs_;  // once it was asked for
  std::vector<std::string> others_;             // files of --sysroot that are not the guest's
};

}  // namespace ringside::guestos
