#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/memory_reader.h"
#include "guestos/program_finder.h"

namespace ringside::guestos {

// The process that has one root of page tables, as far as its samples in user code show: which
// program it runs, and whether it still is the same process.
class RootProcess {
 public:
  // The result of a poll.
  enum class Update : std::uint8_t {
    kNone,
    kProgram,  // program() is another one, or none any more
    kEnded,    // other code lies where this process ran: another one has its page tables now
  };
  // Looks at a sample in user code at `pc`, the `now_ns`-th nanosecond. Reads little while there is
  // nothing new. Errors: those of `memory`.
  [[nodiscard]] Result<Update> poll(GuestVirt pc, std::uint64_t now_ns, ProgramFinder* finder,
                                    VirtualMemory& memory);

  // Takes the program for what runs there, where it is linked, without a look.
  void believe(std::shared_ptr<const ProgramCode> code) { program_ = {std::move(code), 0}; }

  [[nodiscard]] const std::optional<PlacedProgram>& program() const { return program_; }
  // Its code was compared with files, and no program is known.
  [[nodiscard]] bool is_of_no_file() const { return tries_ != 0 && !program_; }
  // None of the code that was sampled could be read.
  [[nodiscard]] bool is_unreadable() const { return seen_.empty() && !program_; }

 private:
  [[nodiscard]] Result<bool> is_same_process(VirtualMemory& memory);
  [[nodiscard]] Result<Update> probe_program(GuestVirt pc, Bytes page, ProgramFinder& finder,
                                             VirtualMemory& memory);
  [[nodiscard]] Update check_program(GuestVirt pc, Bytes page);
  void note_page(GuestVirt pc);
  void remember(GuestVirt pc, Bytes page);

  std::optional<PlacedProgram> program_;
  std::set<std::uint64_t> pages_;  // that were sampled
  unsigned tries_ = 0;             // to find a program
  unsigned unreadable_ = 0;        // looks at pages that could not be read
  unsigned differences_ = 0;       // pages that were not program()'s
  // Bytes around the pc of its first sample: no whole page, for that may hold data, too.
  GuestVirt seen_at_;
  std::vector<std::byte> seen_;
  unsigned strikes_ = 0;  // looks in a row that have found something else
  std::uint64_t next_poll_ns_ = 0;
};

}  // namespace ringside::guestos
