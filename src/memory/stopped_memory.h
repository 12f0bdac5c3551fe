#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "memory/page_walk.h"
#include "memory/stopped_pages.h"

namespace ringside::memory {

// A vCPU's virtual memory in one stop of the guest, by walks of its page tables.
class StoppedMemory {
 public:
  // Treatment of mapped memory, or of a page table, that is no RAM which can be read here.
  enum class NoRam {
    kMayBeRead,  // by another way
    kIsTheEnd,   // taken for not mapped: the other way would read a device's registers, say
  };
  // Both must outlive it.
  StoppedMemory(const PageTables& tables, StoppedPages& pages, NoRam no_ram = NoRam::kMayBeRead)
      : tables_(&tables), pages_(&pages), no_ram_(no_ram) {}

  struct Read {
    std::size_t bytes = 0;  // that came, from the start
    // There is no more. False: another way may read it.
    bool is_certain = true;
  };
  // The pages of a read that are not there yet are read in one call of the system.
  [[nodiscard]] Read read(GuestVirt address, std::span<std::byte> destination);

 private:
  struct Piece {
    GuestPhys address;
    std::size_t bytes;
  };
  // False: a table on the way cannot be read. `pieces_` has what is mapped before it.
  [[nodiscard]] bool translate(GuestVirt address, std::size_t bytes);

  const PageTables* tables_;
  StoppedPages* pages_;
  NoRam no_ram_;
  std::vector<Piece> pieces_;  // of the read that is under way, each in one page of RAM
  std::vector<GuestPhys> wanted_;
};

}  // namespace ringside::memory
