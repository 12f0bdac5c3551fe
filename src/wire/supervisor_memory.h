#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "wire/memory_request.h"

namespace ringside::wire {

// Memory as riscv64's supervisor and user mode see it, for a vCPU in machine mode, where each
// address that is read is a physical one. Sv39, Sv48, Sv57 and Bare (The RISC-V Instruction Set
// Manual, volume II, "Supervisor-Level ISA"). memory/riscv64 walks the same tables where memory can
// be read at once; this walk is resumable, as a recipe's run is:
//   memory.want(request);
//   while (auto physical = memory.next()) …; for a load of a table's entry: memory.entry(value)
class SupervisorMemory {
 public:
  SupervisorMemory() = default;
  // By the value of the register `satp`.
  explicit SupervisorMemory(std::uint64_t satp);

  // The request is what next() reads from now on, page by page: parts of a copy
  // say how much of it was asked for from their address on. False: it begins at no address, or is a
  // load that goes over a page's end.
  [[nodiscard]] bool want(const MemoryRequest& request);
  // The next read at a physical address; nothing if all that was wanted has been handed out.
  [[nodiscard]] std::optional<MemoryRequest> next();
  // The last read that next() handed out is an entry of a table: its value goes to entry().
  [[nodiscard]] bool walks() const { return walks_; }
  // The entry's value, or nothing where it could not be read. False: what is wanted is not mapped,
  // and the rest of it is left out.
  [[nodiscard]] bool entry(std::optional<std::uint64_t> value);

 private:
  struct Page {
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;  // 0: none
    std::uint64_t physical = 0;
  };
  [[nodiscard]] const Page* find(std::uint64_t address) const;
  void keep(const Page& page);
  [[nodiscard]] bool give_up();
  [[nodiscard]] bool is_address(std::uint64_t address) const;
  [[nodiscard]] unsigned shift() const { return 12 + 9 * level_; }
  [[nodiscard]] MemoryRequest part_in(const Page& page);

  std::uint64_t root_ = 0;
  unsigned levels_ = 0;    // 0: nothing is translated
  bool is_known_ = false;  // the mode in satp
  std::optional<MemoryRequest> wanted_;
  // A walk that is under way.
  bool walks_ = false;
  unsigned level_ = 0;  // levels below the entry that is read
  std::uint64_t table_ = 0;
  // The pages that were found last: one stack and what is known of one task need a few.
  std::array<Page, 8> pages_{};
  std::size_t next_page_ = 0;
  // The last table of pages of 4 KiB, and the 2 MiB from `start` on that it is for.
  Page last_table_;
};

}  // namespace ringside::wire
