#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engines/engine.h"
#include "guestos/guest_memory.h"
#include "session/paged_space.h"

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
  // table is not filled in. Page tables found earlier stay until others are found. Errors: those of
  // the engine.
  [[nodiscard]] Result<bool> adopt(const wire::Capture& running, std::optional<GuestVirt> root);
  [[nodiscard]] bool knows_page_tables() const { return by_tables_ != nullptr; }
  // The guest has run: page tables may have changed.
  void forget();

  // Valid until the next adopt().
  [[nodiscard]] guestos::GuestSpace& kernel() override;
  [[nodiscard]] std::unique_ptr<guestos::GuestSpace> space_of(
      const wire::Capture& capture) override;
  [[nodiscard]] bool reads_processes() const override { return physical_ != nullptr; }
  [[nodiscard]] Result<std::unique_ptr<guestos::GuestSpace>> process_space(GuestVirt root) override;
  [[nodiscard]] std::optional<memory::TableShape> user_tables() override {
    return by_tables_ ? by_tables_->tables().lower_half() : std::nullopt;
  }
  void set_linear_distance(std::uint64_t distance) override;
  [[nodiscard]] PhysicalMemory* physical() override { return physical_; }
  // Why there is none; empty where there is.
  [[nodiscard]] const std::string& why_not_physical() const { return why_not_physical_; }

 private:
  void probe_physical();
  void read_by(std::unique_ptr<memory::PageTables> tables);
  [[nodiscard]] Result<bool> take_own_root(GuestVirt root);
  [[nodiscard]] std::unique_ptr<memory::PageTables> tables_of_kernel(GuestPhys root) const;
  [[nodiscard]] std::unique_ptr<memory::PageTables> tables_of(const wire::Capture& capture) const;
  [[nodiscard]] std::unique_ptr<memory::PageTables> tables_of_process(GuestPhys root) const;

  engines::Engine* engine_;
  PhysicalMemory* physical_ = nullptr;
  std::string why_not_physical_;
  std::optional<wire::Capture> running_;
  std::optional<std::uint64_t> linear_distance_;
  // The kernel's: by its page tables, else by what the vCPU of running_ is in, else nothing.
  std::unique_ptr<PagedSpace> by_tables_;
  std::unique_ptr<guestos::GuestSpace> by_vcpu_ = std::make_unique<guestos::EmptySpace>();
};

}  // namespace ringside::session
