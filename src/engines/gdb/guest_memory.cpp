#include "engines/gdb/guest_memory.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "base/clock.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::size_t kProbes = 24;
constexpr std::size_t kFewestProbes = 8;
constexpr std::size_t kProbeBytes = 64;
constexpr std::size_t kMaxCandidates = 8;

using Block = std::array<std::byte, kProbeBytes>;

bool is_zero(const Block& block) {
  return std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{}; });
}

// Places that are not zero, spread over all ranges.
Result<std::vector<GuestPhys>> find_probes(memory::PhysicalMemory& memory,
                                           const std::vector<memory::RamRange>& ranges) {
  constexpr std::size_t kLooks = 512;
  std::vector<GuestPhys> probes;
  for (const memory::RamRange& range : ranges) {
    std::vector<GuestPhys> here;
    const std::uint64_t stride = std::max<std::uint64_t>(range.bytes / kLooks, kProbeBytes);
    for (std::uint64_t at = 0; at + kProbeBytes <= range.bytes; at += stride) {
      const GuestPhys place{(range.start.value + at) & ~std::uint64_t{kProbeBytes - 1}};
      Block block{};
      RINGSIDE_ASSIGN(const std::size_t got, memory.read_up_to(place, block));
      if (got == block.size() && !is_zero(block)) here.push_back(place);
    }
    const std::size_t share = kProbes / ranges.size();
    for (std::size_t i = 0; i < std::min(share, here.size()); ++i)
      probes.push_back(here[i * here.size() / std::min(share, here.size())]);
  }
  return probes;
}

}  // namespace

GuestMemory::GuestMemory(Stub& stub, SlicedReads& reads, bool has_physical_mode, pid_t qemu)
    : stub_(&stub), reads_(&reads), qemu_(qemu), may_try_(qemu > 0) {
  why_not_ = "which process QEMU is is not known";
  if (!has_physical_mode)
    unsupported_ = Error{ErrorCode::kUnsupported, "the stub does not give guest-physical memory"};
}

Result<std::string> GuestMemory::ask_monitor(std::string_view command) {
  RINGSIDE_ASSIGN(auto text, stub_->ask_monitor(command));
  if (stub_->stopped_by() == Stub::Owner::kNobody) reads_->count_pause(stub_->last_stop_ns());
  return text;
}

Result<void> GuestMemory::find_layout() {
  RINGSIDE_ASSIGN(const std::string blocks, ask_monitor("info ramblock"));
  const auto ram = memory::find_machine_ram(blocks);
  const auto layouts = ram ? memory::ram_layouts(*ram) : std::vector<memory::RamLayout>{};
  if (layouts.empty())
    return fail(ErrorCode::kUnsupported, "where this machine has its RAM is not known");
  std::size_t chosen = 0;
  if (layouts.size() > 1) {
    RINGSIDE_ASSIGN(const std::string pci, ask_monitor("info pci"));
    while (chosen < layouts.size() && pci.find(layouts[chosen].host_bridge) == pci.npos) ++chosen;
    if (chosen == layouts.size())
      return fail(ErrorCode::kUnsupported, "this machine has none of the known host bridges");
  }
  block_bytes_ = ram->bytes;
  ranges_ = layouts[chosen].ranges;
  return {};
}

// Compares while the guest stands still.
Result<bool> GuestMemory::is_the_same(memory::PhysicalMemory& candidate) {
  RINGSIDE_ASSIGN(const auto probes, find_probes(candidate, ranges_));
  if (probes.size() < kFewestProbes) return false;
  bool same = true;
  const auto compare = [&](GuestPhys place, std::span<const std::byte> said) {
    Block mine{};
    const auto got = candidate.read_up_to(place, mine);
    same = same && got && *got == mine.size() && said.size() == mine.size() &&
           std::equal(mine.begin(), mine.end(), said.begin());
  };
  RINGSIDE_TRY(reads_->visit(probes, kProbeBytes, compare));
  return same;
}

void GuestMemory::find_in_process() {
  const std::uint64_t now = monotonic_ns();
  if (!may_try_ || now < next_try_ns_) return;
  next_try_ns_ = now + try_again_after_ns_;
  try_again_after_ns_ *= 2;
  why_not_ = fmt::format("in process {} nothing is seen to be the guest's memory", qemu_);
  std::ifstream file("/proc/" + std::to_string(qemu_) + "/maps");
  const std::string maps(std::istreambuf_iterator<char>(file), {});
  auto candidates = memory::block_candidates(maps, block_bytes_);
  candidates.resize(std::min(candidates.size(), kMaxCandidates));
  for (const std::uint64_t start : candidates) {
    auto candidate = std::make_unique<memory::ProcessMemory>(qemu_, start, ranges_);
    const auto same = is_the_same(*candidate);
    if (!same) {
      why_not_ = same.error().message;
      may_try_ = same.error().code != ErrorCode::kIo;  // no right to read it
      return;
    }
    if (*same) {
      process_ = std::move(candidate);
      return;
    }
  }
}

Result<memory::PhysicalMemory*> GuestMemory::find() {
  if (unsupported_) return tl::unexpected<Error>(*unsupported_);
  if (!by_stub_) {
    auto found = find_layout();
    if (!found && found.error().code == ErrorCode::kUnsupported) unsupported_ = found.error();
    RINGSIDE_TRY(std::move(found));
    by_stub_ = std::make_unique<StubPhysicalMemory>(*reads_, ranges_);
  }
  if (!process_) find_in_process();
  if (process_) return process_.get();
  return by_stub_.get();
}

}  // namespace ringside::engines::gdb
