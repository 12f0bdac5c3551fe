#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/memory_reader.h"
#include "elf/image_map.h"
#include "symbols/symbol_list.h"

namespace ringside::session {

// Code that runs in kernel mode and of which no file is known. It is read from the guest's memory,
// so that stacks are followed through it and the recording can be named later: report --kernel
// compares a file with it.
class UnknownCode {
 public:
  // `symbols` name its functions, at the addresses where they run; null: none.
  explicit UnknownCode(std::shared_ptr<const symbols::SymbolList> symbols = nullptr)
      : symbols_(std::move(symbols)) {}

  // Whether to look: a vCPU runs at `pc` in kernel mode. Counts how often, for a boot loader is
  // soon gone. `now_ns` is of any clock that goes on with the guest.
  [[nodiscard]] bool wants(Arch arch, GuestVirt pc, std::uint64_t now_ns);
  // The code around `pc`, unless it is known and still there. Reads up to 3 MiB. Errors: those of
  // `memory`.
  [[nodiscard]] Result<std::optional<elf::Image>> poll(Arch arch, GuestVirt pc,
                                                       VirtualMemory& memory);

  [[nodiscard]] bool was_read() const { return !images_.empty(); }

 private:
  [[nodiscard]] const elf::Image* find(GuestVirt pc) const;

  std::shared_ptr<const symbols::SymbolList> symbols_;
  std::vector<elf::Image> images_;
  std::map<std::uint64_t, unsigned> met_;  // how often, by 2 MiB
  unsigned reads_ = 0;
  std::uint64_t next_check_ns_ = 0;
};

}  // namespace ringside::session
