#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/little_endian.h"
#include "engines/ring/area_finder.h"
#include "engines/ring/library_rings.h"
#include "engines/ring/redox_rings.h"
#include "engines/ring/testing/fuzz_input.h"

// A guest that has anything in its RAM, and changes it while rings are looked for and read there.

namespace {

using namespace ringside;
using namespace ringside::engines::ring;
using testing::must;

constexpr std::uint64_t kVirtual = 0xffff800000000000;  // where RAM is mapped
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kRamBytes = 16 * kPage;
// Words of rings, and what the structures of 4,096 CPUs have, twice.
constexpr std::size_t kMostReadByAPoll = (std::size_t{1} << 21) + std::size_t{2} * 4096 * 64;

class Ram final : public PhysicalMemory {
 public:
  std::vector<std::byte> bytes = std::vector<std::byte>(kRamBytes);
  std::size_t bytes_read = 0;

  Result<std::size_t> read_up_to(GuestPhys at, std::span<std::byte> destination) override {
    if (at.value >= bytes.size()) return 0;
    const std::size_t size = std::min<std::uint64_t>(bytes.size() - at.value, destination.size());
    std::memcpy(destination.data(), bytes.data() + at.value, size);
    bytes_read += size;
    return size;
  }
};

// Two neighbours are exchanged, so that what lies side by side for the kernel does not in RAM.
class Tables final : public memory::PageTables {
 public:
  Result<memory::PageWalk> walk(PhysicalMemory&, GuestVirt address) const override {
    const std::uint64_t at = address.value - kVirtual;
    memory::PageWalk walk;
    if (at >= kRamBytes) return walk;
    const bool is_exchanged = at >= 2 * kPage && at < 4 * kPage;
    walk.end = memory::WalkEnd::kMapped;
    walk.address = {is_exchanged ? at ^ kPage : at};
    walk.bytes = kPage - at % kPage;
    return walk;
  }
};

void repair_check(Ram& ram) {
  std::uint32_t check = wire::kFirstGuestCheck;
  for (std::size_t at = 24; at < 112; at += 8)
    check = wire::mix_guest_check(check, load<std::uint64_t>(ram.bytes, at));
  std::memcpy(ram.bytes.data() + 20, &check, sizeof(check));
}

std::unique_ptr<GuestRings> find_library(Ram& ram, bool is_mapped) {
  TablesOfVcpu tables;
  if (is_mapped) tables.push_back({std::make_unique<Tables>(), {}});
  AreaFinder finder(ram, Arch::kX86_64);
  auto found = finder.step([&]() -> Result<const TablesOfVcpu*> { return &tables; });
  must(found.has_value());
  if (!*found) return nullptr;
  return std::make_unique<LibraryRings>(std::move(**found), 8);
}

std::unique_ptr<GuestRings> find_redox(Ram& ram, const Tables& tables, bool says_words) {
  RedoxLayout layout;
  layout.place = {kVirtual};
  layout.buf = 0;
  layout.tail = 8;
  layout.nmi_kcount = 16;
  layout.nmi_ucount = 24;
  if (says_words)
    layout.words = 32;
  else
    layout.ring_words = 1024;
  layout.context_names[7] = "worker";
  layout.contexts = RedoxContextTable{{kVirtual + 64}, 0, 8, 16, 40, 0, 4, 4, 8, 32};
  auto rings = RedoxRings::find(layout, tables, ram);
  return rings ? std::move(*rings) : nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  testing::FuzzInput input(data, size);
  const auto shape = input.next<std::uint8_t>();
  Ram ram;
  const Tables tables;
  const std::size_t filled = input.next<std::uint16_t>();
  input.take(std::span(ram.bytes).first(std::min(filled, kRamBytes)));
  if ((shape & 4) != 0) repair_check(ram);
  const std::unique_ptr<GuestRings> rings = (shape & 1) != 0
                                                ? find_redox(ram, tables, (shape & 2) != 0)
                                                : find_library(ram, (shape & 2) != 0);
  if (!rings) return 0;
  if ((shape & 8) != 0) rings->want_all();
  RecordCollector collector(rings->arch(), rings->counter_hz(), 3'000'000);
  const std::array<engines::VcpuPlan, 2> vcpus{};
  engines::TickPlan plan;
  plan.vcpus = vcpus;
  collector.set_plan(plan);
  std::uint64_t now = 1;
  const auto poll = [&](bool is_last) {
    const std::size_t before = ram.bytes_read;
    const auto polled = rings->poll(&collector, is_last);
    must(ram.bytes_read - before <= kMostReadByAPoll || is_last);
    std::uint64_t last = 0;
    for (const wire::Capture& capture : collector.take_out(now += 1'000'000).captures) {
      must(capture.host_time_ns >= last);
      last = capture.host_time_ns;
    }
    return polled.has_value();
  };
  while (!input.is_empty()) {
    const std::size_t at = std::size_t{input.next<std::uint16_t>()} * 8;
    if (at < kRamBytes) {
      input.take(std::span(ram.bytes).subspan(at, 8));
    } else if (!poll(false)) {
      break;
    } else {
      must(rings->are_there().has_value());
      if (!rings->wants_tables().value_or(false)) continue;
      TablesOfVcpu moved;
      moved.push_back({std::make_unique<Tables>(), {}});
      must(rings->use_tables(moved, ram).has_value());
    }
  }
  (void)poll(true);
  const RingCounts counts = rings->counts();
  must(counts.lost_samples <= counts.lost());
  return 0;
}
