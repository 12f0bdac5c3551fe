#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/memory_reader.h"
#include "base/result.h"
#include "guestos/program_code.h"

namespace ringside::guestos {

// A program, and how far behind its linked address it runs.
struct PlacedProgram {
  std::shared_ptr<const ProgramCode> code;
  std::uint64_t bias = 0;

  [[nodiscard]] ImageAddr to_image(GuestVirt at) const { return {at.value - bias}; }
};

// Finds out which of some files a process runs, by comparing their code with its memory. A file is
// taken where the page around a sampled pc is equal to its own, and none of the pages differs that
// were compared: those that were sampled before, and up to 64 others. Pages that are not there say
// nothing.
class ProgramFinder {
 public:
  // In order of their paths.
  explicit ProgramFinder(const std::vector<std::shared_ptr<const UserImage>>& programs);

  // The page that was read around a pc of user code.
  struct Sampled {
    GuestVirt pc;
    GuestVirt page;
    Bytes bytes;
  };
  // The file whose code runs at `sampled`, and that differs at none of `pages`. Nothing where there
  // is none, and where two fit that differ only where memory cannot be read. Among files with the
  // same code it is the one with the most symbols, and among those the first. `process` is the
  // process's memory. Errors: those of `process`.
  [[nodiscard]] Result<std::optional<PlacedProgram>> find(const Sampled& sampled,
                                                          const std::set<std::uint64_t>& pages,
                                                          VirtualMemory& process);
  // The file, where there is only one; null otherwise.
  [[nodiscard]] std::shared_ptr<const ProgramCode> only() const {
    return programs_.size() == 1 ? programs_.front() : nullptr;
  }
  // A sentence for people for each program that has other names, too.
  [[nodiscard]] const std::map<std::string, std::string>& twins() const { return twins_; }

 private:
  [[nodiscard]] std::vector<PlacedProgram> candidates(const Sampled& sampled) const;
  [[nodiscard]] Result<bool> is_equal(const PlacedProgram& placed,
                                      const std::set<std::uint64_t>& pages,
                                      VirtualMemory& process) const;
  // Leaves one of each code.
  void drop_twins(std::vector<PlacedProgram>& fits);
  // Memory is a's where the two differ. False too where that cannot be said.
  [[nodiscard]] static Result<bool> beats(const PlacedProgram& a, const PlacedProgram& b,
                                          VirtualMemory& process);

  std::vector<std::shared_ptr<const ProgramCode>> programs_;
  std::map<std::string, std::string> twins_;  // by name
};

// A page of a process. Nothing where it is not there, or nothing has been put into it yet.
[[nodiscard]] Result<std::optional<std::vector<std::byte>>> read_code_page(GuestVirt page,
                                                                           VirtualMemory& process);

}  // namespace ringside::guestos
