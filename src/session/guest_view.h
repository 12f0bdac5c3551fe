#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engines/engine.h"
#include "guestos/guest_memory.h"
#include "memory/address_space.h"

namespace ringside::session {

// The guest's memory for the guest-OS adapter, read while the guest runs. Belongs to the thread
// that owns the engine.
class GuestView final : public guestos::GuestMemory {
 public:
  explicit GuestView(engines::Engine& engine);

  // Reads the kernel's addresses from now on as `running` saw them, a capture in kernel mode. With
  // `root`, the address of the kernel's own top-level page table, by that: the table that a vCPU
  // used belongs to a process or to the kernel's start, and ends with it. False where that is not
  // settled yet, and another capture is to be adopted later: physical memory could not be read just
  // now, no vCPU gave its registers in time, its tables no longer map what ran, or the kernel's own
  // table is not filled in. What was known before stays. Errors: those of the engine.
  [[nodiscard]] Result<bool> adopt(const wire::Capture& running, std::optional<GuestVirt> root);
  [[nodiscard]] bool knows_page_tables() const { return tables_ != nullptr; }
  // The guest has run: page tables may have changed.
  void forget();

  [[nodiscard]] Result<std::size_t> read_kernel(GuestVirt address,
                                                std::span<std::byte> into) override;
  [[nodiscard]] Result<std::size_t> read_as(const wire::Capture& capture, GuestVirt address,
                                            std::span<std::byte> into) override;
  [[nodiscard]] Result<std::optional<GuestPhys>> physical_address_as(const wire::Capture& capture,
                                                                     GuestVirt address) override;
  [[nodiscard]] bool reads_processes() const override { return physical_ != nullptr; }
  [[nodiscard]] Result<std::size_t> read_process(GuestVirt root, GuestVirt address,
                                                 std::span<std::byte> into) override;
  [[nodiscard]] Result<std::optional<GuestPhys>> physical_address(GuestVirt address) override;
  [[nodiscard]] std::optional<memory::TableShape> user_tables() override {
    return tables_ ? tables_->lower_half() : std::nullopt;
  }
  [[nodiscard]] memory::PhysicalMemory* physical() override { return physical_; }
  // Why there is none; empty where there is.
  [[nodiscard]] const std::string& why_not_physical() const { return why_not_physical_; }

 private:
  void probe_physical();
  [[nodiscard]] Result<bool> take_own_root(GuestVirt root);
  [[nodiscard]] std::unique_ptr<memory::PageTables> tables_of_kernel(GuestPhys root) const;
  [[nodiscard]] std::unique_ptr<memory::PageTables> tables_of(const wire::Capture& capture) const;
  [[nodiscard]] std::unique_ptr<memory::PageTables> tables_of_process(GuestPhys root) const;

  engines::Engine* engine_;
  memory::PhysicalMemory* physical_ = nullptr;
  std::string why_not_physical_;
  std::optional<wire::Capture> running_;
  std::unique_ptr<memory::PageTables> tables_;  // null: the engine reads by what a vCPU is in
  std::unique_ptr<memory::AddressSpace> space_;
};

}  // namespace ringside::session
