#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/memory_reader.h"
#include "base/result.h"
#include "memory/table_shape.h"
#include "wire/capture.h"

namespace ringside::guestos {

// True where a failure is of what was read, and not of the way to it: the guest was changing it, or
// it is damaged. A later try may succeed.
[[nodiscard]] constexpr bool is_of_memory(ErrorCode code) {
  return code == ErrorCode::kUnreadable || code == ErrorCode::kDisturbed;
}

// An address space of the guest, read while the guest runs: what is read may be half-way through a
// change.
class GuestSpace : public VirtualMemory {
 public:
  // Where the byte is in physical memory; nothing where it is not mapped, or where the engine reads
  // no page tables. Errors: those of the connection.
  [[nodiscard]] virtual Result<std::optional<GuestPhys>> physical_address(GuestVirt) {
    return std::nullopt;
  }
};

// An address space in which nothing is mapped.
class EmptySpace final : public GuestSpace {
 public:
  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt, std::span<std::byte>) override {
    return std::size_t{0};
  }
};

// The guest's memory while the guest runs, by address spaces.
class GuestMemory {
 public:
  virtual ~GuestMemory() = default;
  // The kernel's addresses, by the kernel's own page tables, whatever runs at the moment.
  [[nodiscard]] virtual GuestSpace& kernel() = 0;
  // By the page tables that the vCPU used at the capture; they may have become another process's
  // since then. Never null. Valid as long as this object and the capture.
  [[nodiscard]] virtual std::unique_ptr<GuestSpace> space_of(const wire::Capture& capture) = 0;
  // Whether space_of() is by those tables whatever runs now: otherwise it may be another process's.
  [[nodiscard]] virtual bool reads_processes() const { return true; }
  // By the page tables of a process, whose root has this address in the kernel (mm_struct::pgd).
  // Never null. Valid as long as this object. Errors: those of the connection.
  [[nodiscard]] virtual Result<std::unique_ptr<GuestSpace>> process_space(GuestVirt /*root*/) {
    return std::make_unique<EmptySpace>();
  }
  // How the page tables of a process are walked; nothing where the engine reads no page tables.
  [[nodiscard]] virtual std::optional<memory::TableShape> user_tables() { return std::nullopt; }
  // The kernel maps all RAM at this distance from its physical address, as long as it runs.
  virtual void set_linear_distance(std::uint64_t /*distance*/) {}
  // Null where there is no way to it.
  [[nodiscard]] virtual PhysicalMemory* physical() = 0;
};

}  // namespace ringside::guestos
