#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "guestos/emerald/metadata.h"
#include "guestos/guest_memory.h"
#include "guestos/program_files.h"

namespace ringside::guestos::emerald {

// Finds out which program a process runs. The same .text gives the same program.
class GuestPrograms {
 public:
  // `files` may be null.
  explicit GuestPrograms(std::shared_ptr<ProgramFiles> files);

  // Where a program runs.
  struct Placed {
    std::vector<UserMapping> mappings;
    std::shared_ptr<const UserImage> program;
  };
  // Reads the process's .text and looks it up among the files. Where none has it, the program is
  // elf::kUnknownProgram, with an ELF file made of .text and, where it can be read, .eh_frame;
  // without a file where they are larger than kMostText and kMostEhFrame, or 256 MiB have been
  // taken in. Nothing if .text cannot be read whole: it may be later. `memory` is that process's.
  // Errors: its own.
  [[nodiscard]] Result<std::optional<Placed>> poll(const Metadata& metadata, VirtualMemory& memory);
  // For a process whose .text cannot be read.
  [[nodiscard]] Placed unreadable(const Metadata& metadata) const;

  static constexpr std::uint64_t kMostText = 32u << 20;
  static constexpr std::uint64_t kMostEhFrame = 8u << 20;

 private:
  // Null where it would be too much.
  [[nodiscard]] std::shared_ptr<const UserImage> make_image(const Metadata& metadata, Bytes text,
                                                            Bytes eh_frame);

  std::shared_ptr<ProgramFiles> files_;
  std::shared_ptr<const UserImage> no_file_;
  using Key = std::tuple<std::uint64_t, GuestVirt, std::uint64_t, GuestVirt>;
  std::map<Key, std::shared_ptr<const UserImage>> unknown_;  // by what was read, and from where
  std::uint64_t bytes_left_ = 256u << 20;
};

}  // namespace ringside::guestos::emerald
