#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "guestos/guest_memory.h"
#include "memory/address_space.h"

namespace ringside::session {

// An address space by page tables of its own, over physical memory that must outlive it.
class PagedSpace final : public guestos::GuestSpace {
 public:
  // `tables`: not null.
  PagedSpace(std::unique_ptr<memory::PageTables> tables, PhysicalMemory& physical)
      : tables_(std::move(tables)), space_(*tables_, physical) {}

  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt address,
                                               std::span<std::byte> destination) override {
    return space_.read_up_to(address, destination);
  }
  [[nodiscard]] Result<std::optional<GuestPhys>> physical_address(GuestVirt address) override {
    RINGSIDE_ASSIGN(const auto walk, space_.walk(address));
    return walk.end == memory::WalkEnd::kMapped ? std::optional(walk.address) : std::nullopt;
  }
  [[nodiscard]] const memory::PageTables& tables() const { return *tables_; }
  // As AddressSpace has it.
  void set_linear_distance(std::uint64_t distance) { space_.set_linear_distance(distance); }
  // Page tables are read once: forget them when the guest may have changed them.
  void forget_tables() { space_.forget_tables(); }

 private:
  std::unique_ptr<memory::PageTables> tables_;
  memory::AddressSpace space_;
};

}  // namespace ringside::session
