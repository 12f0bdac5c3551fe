#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "guestos/process_updates.h"

namespace ringside::guestos {

// XXH3-64 (seed 0) of a program's .text, by which Emerald's profiler identifies programs.
[[nodiscard]] std::uint64_t text_hash(Bytes text);

// The programs of a folder on the host, found by what their .text holds.
class ProgramFiles {
 public:
  // Takes in the folder's ELF files, and those of folders in it; other files, and object files, are
  // left out. At most kMostPrograms. Errors: kNotFound where there is no such folder or no program
  // in it, kUnsupported where there are too many.
  [[nodiscard]] static Result<std::shared_ptr<ProgramFiles>> open(
      const std::filesystem::path& folder);

  // The program whose .text is `text`; of several the one with the most symbols. Null if there is
  // none. A file is read when first something of its .text's size is asked for.
  [[nodiscard]] std::shared_ptr<const UserImage> find(Bytes text);
  // Some program has a .text of `size` bytes: otherwise none will be found.
  [[nodiscard]] bool has_text_of(std::uint64_t size) const { return by_size_.contains(size); }

  // In the order of their paths.
  [[nodiscard]] const std::vector<std::shared_ptr<const UserImage>>& all() const { return all_; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  static constexpr std::size_t kMostPrograms = 4096;

 private:
  struct Program {
    std::shared_ptr<const UserImage> image;
    std::optional<std::uint64_t> hash;  // once it was needed
  };
  std::map<std::uint64_t, std::vector<Program>> by_size_;  // of .text
  std::vector<std::shared_ptr<const UserImage>> all_;
};

// One program, named as its file. Errors: those of kernel_image::open_elf.
[[nodiscard]] Result<std::shared_ptr<const UserImage>> open_program(
    const std::filesystem::path& path);

// The executable segments of a program that runs `bias` behind where it is linked.
[[nodiscard]] std::vector<UserMapping> mappings_of(const std::shared_ptr<const UserImage>& program,
                                                   std::uint64_t bias = 0);

}  // namespace ringside::guestos
