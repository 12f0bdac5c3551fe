#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "engines/engine.h"

namespace ringside::engines::testing {

// A guest made by hand: `on_tick` fills a capture for each vCPU.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(std::size_t vcpus) : vcpus_(vcpus) {}

  std::function<void(wire::Capture&, const VcpuPlan&, std::uint64_t tick)> on_tick;
  std::function<std::optional<Error>(std::uint64_t tick)> fail_at;
  arch::Registers registers;          // what read_registers() gives
  std::optional<Error> no_registers;  // or why it gives none
  // A read of virtual memory; without it nothing is mapped.
  std::function<Result<std::size_t>(std::span<std::byte>)> on_read;
  GuestVirt read_at;                                                 // where it is
  std::function<std::unique_ptr<memory::PageTables>()> page_tables;  // the machine's own
  ReadTurns* turns = nullptr;
  PhysicalMemory* physical = nullptr;
  std::size_t register_reads = 0;
  std::uint64_t pause_ns = 1000;  // of each tick
  std::atomic<bool> user_paused{false};
  std::atomic<LeftAlone> left_alone{LeftAlone::kNo};  // beside user_paused
  std::atomic<bool> has_moved{false};
  std::atomic<std::uint64_t> ticks{0};

  [[nodiscard]] Arch arch() const override { return Arch::kX86_64; }
  [[nodiscard]] std::size_t vcpu_count() const override { return vcpus_; }
  [[nodiscard]] Result<bool> guest_is_running() override {
    if (has_moved) return fail(ErrorCode::kMoved, "the guest has moved");
    return !user_paused && left_alone == LeftAlone::kNo;
  }
  [[nodiscard]] Result<Tick> tick(const TickPlan& plan) override {
    const std::uint64_t number = ticks++;
    if (fail_at)
      if (auto error = fail_at(number)) return tl::unexpected<Error>(*error);
    Tick tick;
    tick.left_alone = user_paused ? LeftAlone::kPaused : left_alone.load();
    if (tick.left_alone != LeftAlone::kNo) return tick;
    tick.pause_ns = pause_ns;
    for (std::size_t i = 0; i < vcpus_; ++i) {
      wire::Capture& capture = tick.captures.emplace_back();
      capture.vcpu = VcpuId{static_cast<std::uint16_t>(i)};
      capture.arch = Arch::kX86_64;
      capture.host_time_ns = monotonic_ns();
      capture.pause_ns = tick.pause_ns;
      if (on_tick) on_tick(capture, plan.vcpus[i], number);
    }
    return tick;
  }
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId) override {
    ++register_reads;
    if (no_registers) return tl::unexpected<Error>(*no_registers);
    return registers;
  }
  // `physical`, if it is set.
  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override {
    if (physical == nullptr) return fail(ErrorCode::kUnsupported, "no physical memory");
    return physical;
  }
  [[nodiscard]] std::unique_ptr<memory::PageTables> machines_page_tables(VcpuId) override {
    return page_tables ? page_tables() : nullptr;
  }
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId, GuestVirt at,
                                                 std::span<std::byte> into) override {
    read_at = at;
    return on_read ? on_read(into) : Result<std::size_t>(0);
  }
  void set_read_turns(ReadTurns* given) override { turns = given; }
  [[nodiscard]] std::string explain_memory_access() const override { return {}; }
  [[nodiscard]] MemoryPauses memory_pauses() const override { return {}; }

 private:
  std::size_t vcpus_;
};

}  // namespace ringside::engines::testing
