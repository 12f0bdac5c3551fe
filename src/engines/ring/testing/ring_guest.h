#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/testing/time_limits.h"
#include "engines/ring/ring_engine.h"
#include "engines/testing/fake_engine.h"
#include "wire/testing/guest_rings.h"

// A guest whose memory has the rings that the guest library fills in the test's own process.
namespace ringside::engines::ring::testing {

using wire::testing::GuestRings;

inline constexpr std::uint64_t kPlace = 0x4000000;  // of the rings in RAM
inline constexpr std::uint64_t kLaterPlace = 0x3000000;
inline constexpr std::uint64_t kOthersPlace = 0x5000000;
inline constexpr std::uint64_t kGuestPage = 4096;

// RAM with the rings of this process at one place, as a guest has them that maps nothing; or from
// `first_bytes` on at another, as a guest has them whose pages lie here and there; with other rings
// behind them; and what else was put to its beginning.
class RamWithRings final : public PhysicalMemory {
 public:
  Result<std::size_t> read_up_to(GuestPhys address, std::span<std::byte> destination) override {
    constexpr std::uint64_t kBytes = 0x8000000;
    if (error) return tl::unexpected<Error>(*error);
    if (address.value >= kBytes) return 0;
    if (address.value >= hole.first && address.value < hole.second) return 0;
    const std::uint64_t end = address.value < hole.first ? hole.first : kBytes;
    const std::size_t size = std::min<std::uint64_t>(end - address.value, destination.size());
    const auto wanted = destination.first(size);
    std::fill(wanted.begin(), wanted.end(), std::byte{0});
    if (rings != nullptr) {
      const Bytes bytes = rings->bytes();
      const std::size_t first = std::min<std::uint64_t>(first_bytes, bytes.size());
      copy(bytes.first(first), place, address, wanted);
      copy(bytes.subspan(first), kLaterPlace, address, wanted);
    }
    if (others != nullptr) copy(others->bytes(), others_place, address, wanted);
    copy(low, 0, address, wanted);
    return size;
  }
  void put(std::uint64_t at, std::uint64_t value) {
    if (low.size() < at + sizeof(value)) low.resize(at + sizeof(value));
    std::memcpy(low.data() + at, &value, sizeof(value));
  }
  [[nodiscard]] GuestPhys place_of(std::uint64_t offset) const {
    return GuestPhys{offset < first_bytes ? place + offset : kLaterPlace + offset - first_bytes};
  }
  std::vector<std::byte> low;
  const GuestRings* rings = nullptr;
  std::uint64_t place = kPlace;
  const GuestRings* others = nullptr;
  std::uint64_t others_place = kOthersPlace;
  std::pair<std::uint64_t, std::uint64_t> hole;  // from, to
  std::uint64_t first_bytes = ~std::uint64_t{0};
  std::uint64_t mapped_bytes_behind = 0;  // the place of the rings: they are a copy there
  std::optional<Error> error;

 private:
  // Copies the wanted ones of `bytes`, which lie at `place`.
  static void copy(Bytes bytes, std::uint64_t place, GuestPhys address,
                   std::span<std::byte> wanted) {
    const std::uint64_t from = std::max(place, address.value);
    const std::uint64_t end = std::min(place + bytes.size(), address.value + wanted.size());
    if (from >= end) return;
    std::memcpy(wanted.data() + (from - address.value), bytes.data() + (from - place), end - from);
  }
};

// A machine's own page tables, where the rings are.
class RingTables final : public memory::PageTables {
 public:
  explicit RingTables(const RamWithRings& ram) : ram_(ram) {}
  Result<memory::PageWalk> walk(PhysicalMemory&, GuestVirt address) const override {
    memory::PageWalk walk;
    const std::uint64_t offset = address.value - ram_.rings->area().self.value;
    walk.bytes = kGuestPage - offset % kGuestPage;
    walk.end = memory::WalkEnd::kNotPresent;
    if (offset >= ram_.rings->bytes().size()) return walk;
    walk.end = memory::WalkEnd::kMapped;
    walk.address = ram_.place_of(offset) + ram_.mapped_bytes_behind;
    return walk;
  }

 private:
  const RamWithRings& ram_;
};

class RingEngineTest : public ::testing::Test {
 protected:
  // An engine that has looked for rings.
  void start() {
    auto way_in = std::make_unique<engines::testing::FakeEngine>(2);
    way_in->physical = &ram_;
    way_in->no_registers = way_in_error_;
    if (machine_walks_) way_in->page_tables = [this] { return std::make_unique<RingTables>(ram_); };
    if (page_tables_) way_in->page_tables = page_tables_;
    way_in->registers = registers_;
    way_in_ = way_in.get();
    RingOptions options;
    options.from_boot = from_boot_;
    options.redox = redox_;
    engine_ = std::make_unique<RingEngine>(std::move(way_in), options);
    vcpus_.resize(2);
    ASSERT_TRUE(tick());
    ASSERT_TRUE(engine_->start({}));
  }
  // The first of the ticks that has events, which wait for a while.
  [[nodiscard]] Result<Tick> tick_with_events() {
    const std::uint64_t end = ringside::testing::step_end_ns();
    auto taken = tick();
    while (taken && taken->events.empty() && monotonic_ns() < end) taken = tick();
    return taken;
  }
  // Until rings are read; what comes meanwhile has no captures.
  void tick_until_rings() {
    const std::uint64_t end = ringside::testing::step_end_ns();
    while (!engine_->has_rings() && monotonic_ns() < end) {
      const auto taken = tick();
      ASSERT_TRUE(taken);
      EXPECT_TRUE(taken->captures.empty());
    }
    ASSERT_TRUE(engine_->has_rings());
  }
  [[nodiscard]] Result<Tick> tick() {
    TickPlan plan;
    plan.vcpus = vcpus_;
    return engine_->tick(plan);
  }

  RamWithRings ram_;
  bool machine_walks_ = false;
  std::function<std::unique_ptr<memory::PageTables>()> page_tables_;  // the machine's own
  bool from_boot_ = false;
  std::optional<RedoxLayout> redox_;
  arch::Registers registers_;  // no paging, unless a test has it
  engines::testing::FakeEngine* way_in_ = nullptr;
  std::optional<Error> way_in_error_;  // of its registers
  std::unique_ptr<RingEngine> engine_;
  std::vector<VcpuPlan> vcpus_;
};

}  // namespace ringside::engines::ring::testing
