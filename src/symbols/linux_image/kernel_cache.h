#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"

namespace ringside::symbols {

// ELF files that were made of kernels (make_elf()), kept in the user's cache folder, so that each
// kernel is unpacked and decoded once, and later mapped. An entry is for a kernel's file as it was
// (device, inode, size, times of modification and change) and for the program that made it. A
// folder or an entry that another user could have written is not used. Each entry has a checksum,
// and a damaged one is removed. A cache that cannot be read or written is empty.
class KernelCache {
 public:
  // Kernels of less are decoded in a few milliseconds.
  static constexpr std::uint64_t kSmallest = 4u << 20;

  struct Limits {
    std::uint64_t bytes = 256u << 20;  // of all entries
    std::size_t entries = 16;
    // A file that was changed so short a time ago might change again with the same times.
    std::chrono::nanoseconds youngest = std::chrono::seconds(2);
  };

  // In `kernels` of user_cache_folder().
  KernelCache();
  KernelCache(std::filesystem::path folder, const Limits& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // A file as it was, and the program that reads it.
  struct Origin {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t program_size = 0;
    std::int64_t program_modified_ns = 0;

    friend bool operator==(const Origin&, const Origin&) = default;
  };
  // As the file is now; nothing where it is none.
  [[nodiscard]] static std::optional<Origin> origin_of(const std::filesystem::path& kernel);

  // The file that was made of the one at `kernel`, under that name; null where none is kept.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> find(const std::filesystem::path& kernel) const;
  // Keeps `elf`, made of the file at `kernel`, which had that origin before it was read: one that
  // has changed since is not kept. The entries that were used longest ago give way. Returns what
  // find() returns then.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> keep(const std::filesystem::path& kernel,
                                                         const std::optional<Origin>& origin,
                                                         Bytes elf) const;

  struct Entry {
    std::filesystem::path file;
    std::string kernel;  // the path that it was made of
    std::uint64_t bytes = 0;
    std::chrono::system_clock::time_point used;
  };
  // Those used last first.
  [[nodiscard]] std::vector<Entry> entries() const;
  // Removes all entries, and what a writer that was killed has left. Error: one stays.
  [[nodiscard]] Result<void> clear() const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // False where the folder, or the one that it would be made in, is another user's or may be
  // written by one.
  [[nodiscard]] bool is_usable() const;

 private:
  [[nodiscard]] bool is_ours() const;
  void make_room(std::uint64_t bytes) const;

  std::filesystem::path folder_;  // empty: there is none
  Limits limits_;
};

}  // namespace ringside::symbols
