#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "base/types.h"
#include "memory/reader.h"
#include "memory/table_shape.h"
#include "wire/capture.h"

namespace ringside::guestos {

// The guest's memory while the guest runs, so that what is read may be half-way through a change.
// Reads return how many bytes from the start could be read: fewer than asked where memory ends or a
// page is not present. An error is a failure of the connection, not of the memory.
class GuestMemory {
 public:
  virtual ~GuestMemory() = default;
  // The kernel's addresses, by the kernel's own page tables, whatever runs at the moment.
  [[nodiscard]] virtual Result<std::size_t> read_kernel(GuestVirt address,
                                                        std::span<std::byte> into) = 0;
  // By the page tables that the vCPU used at the capture; they may have become another process's
  // since then.
  [[nodiscard]] virtual Result<std::size_t> read_as(const wire::Capture& capture, GuestVirt address,
                                                    std::span<std::byte> into) = 0;
  // Where the byte is in physical memory by those tables; nothing where it is not mapped, or that
  // cannot be told.
  [[nodiscard]] virtual Result<std::optional<GuestPhys>> physical_address_as(const wire::Capture&,
                                                                             GuestVirt) {
    return std::nullopt;
  }
  // Whether read_as() is by those tables whatever runs now: otherwise it may read another process.
  [[nodiscard]] virtual bool reads_processes() const { return true; }
  // By the page tables of a process, whose root has this address in the kernel (mm_struct::pgd).
  [[nodiscard]] virtual Result<std::size_t> read_process(GuestVirt /*root*/, GuestVirt /*address*/,
                                                         std::span<std::byte>) {
    return std::size_t{0};
  }
  // Where the byte at a kernel's address is in physical memory; nothing where it is not mapped, or
  // that cannot be told.
  [[nodiscard]] virtual Result<std::optional<GuestPhys>> physical_address(GuestVirt) {
    return std::nullopt;
  }
  // How the page tables of a process are walked; nothing where that cannot be told.
  [[nodiscard]] virtual std::optional<memory::TableShape> user_tables() { return std::nullopt; }
  // Null where there is no way to it.
  [[nodiscard]] virtual memory::PhysicalMemory* physical() = 0;
};

}  // namespace ringside::guestos
