#include "engines/ring/ring_engine.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "arch/arch_info.h"
#include "arch/x86.h"
#include "base/clock.h"
#include "memory/page_tables.h"

namespace ringside::engines::ring {
namespace {

constexpr std::uint64_t kPollNs = 5'000'000;
// All CPUs are read in a poll, as far as there is time.
constexpr std::uint64_t kPatienceNs = 50'000'000;
// A search may stop the guest for its registers where there is a stub, and takes the host's time.
constexpr std::uint64_t kShortestSearchRestNs = 50'000'000;
constexpr std::uint64_t kLongestSearchRestNs = 2'000'000'000;
constexpr std::uint64_t kRestsForSearch = 10;
// A guest that boots makes its rings soon, and may not live long.
constexpr std::uint64_t kRestsForEarlySearch = 1;
constexpr std::uint64_t kEarlyNs = 10'000'000'000;
constexpr std::uint64_t kLookNs = 250'000'000;
constexpr std::uint64_t kSilenceNs = 500'000'000;  // then the guest may stand still

// Whether what failed now may succeed later: RAM that is nearly all zero, a vCPU that does not
// answer.
bool may_pass(const Error& error) {
  return error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kDisturbed || error.code == ErrorCode::kMigrating;
}

arch::Registers paging_registers(Arch arch, const arch::Registers& all) {
  arch::Registers paging;
  for (const std::uint8_t reg : memory::registers_of_walks(arch))
    if (all.has(reg)) paging.set(reg, all.get(reg));
  return paging;
}

}  // namespace

RingEngine::RingEngine(std::unique_ptr<Engine> way_in, const RingOptions& options)
    : way_in_(std::move(way_in)), options_(options) {}

Result<PhysicalMemory*> RingEngine::ram() {
  const auto physical = way_in_->physical_memory();
  if (!physical && !may_pass(physical.error())) return tl::unexpected<Error>(physical.error());
  if (!physical) {
    why_not_ = "the guest's rings cannot be read: " + physical.error().message;
    return nullptr;
  }
  if (!way_in_->memory_reads_stop_the_guest()) return *physical;
  why_not_ = "the guest's rings cannot be read without stopping the guest: " +
             way_in_->explain_memory_access();
  return nullptr;
}

// Asks one vCPU after another: one that runs user code may not map the kernel.
Result<RingEngine::Paging> RingEngine::paging() {
  const VcpuId vcpu{static_cast<std::uint16_t>(asked_++ % std::max<std::size_t>(vcpu_count(), 1))};
  RINGSIDE_ASSIGN(auto registers, way_in_->read_registers(vcpu));
  TablesOfVcpu tables = tables_of_vcpu(arch(), registers);
  if (tables.empty())
    if (auto machines = way_in_->machines_page_tables(vcpu))
      tables.push_back({std::move(machines), registers});
  return Paging{std::move(registers), std::move(tables)};
}

// A step of the search. Nothing where there are none yet.
Result<std::unique_ptr<GuestRings>> RingEngine::look_for_rings(PhysicalMemory& ram, Paging& now) {
  if (options_.redox) {
    RINGSIDE_ASSIGN(now, paging());
    if (now.tables.empty()) return nullptr;
    auto rings = RedoxRings::find(*options_.redox, *now.tables.front().tables, ram);
    if (!rings && rings.error().code != ErrorCode::kFormat &&
        rings.error().code != ErrorCode::kUnreadable)
      return tl::unexpected<Error>(rings.error());
    if (!rings) why_not_ = rings.error().message;
    return rings ? std::move(*rings) : nullptr;
  }
  if (!finder_) finder_.emplace(ram, arch());
  bool has_asked = false;  // once a step: it may stop the guest
  RINGSIDE_ASSIGN(auto found, finder_->step([&]() -> Result<const TablesOfVcpu*> {
    if (!std::exchange(has_asked, true)) {
      RINGSIDE_ASSIGN(now, paging());
    }
    return &now.tables;
  }));
  if (!finder_->why_not().empty()) why_not_ = finder_->why_not();
  if (!found) return nullptr;
  if (found->registers) now.registers = *found->registers;
  return std::make_unique<LibraryRings>(std::move(*found), vcpu_count());
}

// Rings that a whole search since the start has not found are new when they are found later, and
// all in them is of this recording. Others give what comes from now on.
Result<void> RingEngine::find_rings() {
  const std::uint64_t began = monotonic_ns();
  if (began < next_search_ns_) return {};
  RINGSIDE_ASSIGN(PhysicalMemory* const memory, ram());
  Paging now;
  std::unique_ptr<GuestRings> found;
  if (memory != nullptr) {
    auto looked = look_for_rings(*memory, now);
    if (!looked && !may_pass(looked.error())) return tl::unexpected<Error>(looked.error());
    if (!looked) {
      next_search_ns_ = monotonic_ns() + kShortestSearchRestNs;
      return {};
    }
    found = std::move(*looked);
  }
  search_ns_ += monotonic_ns() - began;
  if (found) return use(std::move(found), now.registers);
  if (memory != nullptr && finder_ && !finder_->is_done()) return {};
  // One that is not mapped just now may be the guest's.
  if (memory != nullptr && finder_ && !finder_->has_unmapped()) none_are_there_ |= is_started_;
  rest_from_search();
  return {};
}

// A guest may have made its rings just now, and have put all that it has into them.
Result<void> RingEngine::find_rings_at_last() {
  if (!none_are_there_ && !options_.from_boot) return {};
  finder_.reset();
  next_search_ns_ = 0;
  do {
    RINGSIDE_TRY(find_rings());
  } while (!rings_ && finder_ && monotonic_ns() >= next_search_ns_);
  return {};
}

void RingEngine::rest_from_search() {
  finder_.reset();
  const std::uint64_t now = monotonic_ns();
  const bool is_early = is_started_ && now - started_ns_ < kEarlyNs;
  const std::uint64_t rests = is_early ? kRestsForEarlySearch : kRestsForSearch;
  next_search_ns_ =
      now + std::clamp(rests * search_ns_, kShortestSearchRestNs, kLongestSearchRestNs);
  search_ns_ = 0;
}

Result<void> RingEngine::use(std::unique_ptr<GuestRings> found, const arch::Registers& now) {
  rest_from_search();
  next_look_ns_ = monotonic_ns() + kLookNs;
  why_not_.clear();
  have_given_ = false;
  const auto known = std::find_if(left_.begin(), left_.end(),
                                  [&found](const auto& left) { return left->are_same(*found); });
  if (known != left_.end()) {
    rings_ = std::move(*known);
    left_.erase(known);
    none_are_there_ = false;
    return {};
  }
  rings_ = std::move(found);
  const double hz = options_.counter_hz > 0 ? options_.counter_hz : rings_->counter_hz();
  if (records_) {
    rest_ = records_->take_out(monotonic_ns(), true);
    taken_ += records_->captures();
  }
  records_.emplace(rings_->arch(), hz, kPatienceNs);
  const bool is_32_bit = rings_->arch() == Arch::kI386 && arch() == Arch::kX86_64;
  const auto registers = is_32_bit ? arch::as_i386(now) : std::optional(now);
  if (registers) records_->set_registers(paging_registers(rings_->arch(), *registers));
  const bool wants_all = std::exchange(none_are_there_, false) || options_.from_boot;
  if (wants_all) rings_->want_all();
  // After the start the tick goes on with its plan.
  return is_started_ || wants_all ? Result<void>() : poll_rings(false);
}

// Rings that nothing comes from may be those of a kernel that has ended.
Result<void> RingEngine::look_again() {
  if (!rings_) return {};
  RINGSIDE_ASSIGN(PhysicalMemory* const memory, ram());
  if (memory == nullptr) return {};
  RINGSIDE_ASSIGN(const Paging now, paging());
  bool are_mapped = true;
  if (!now.tables.empty()) {
    RINGSIDE_ASSIGN(are_mapped, rings_->are_mapped(now.tables, *memory));
  }
  if (are_mapped) return look_for_others(*memory, now);
  leave_rings();
  return {};
}

// Memory of a kernel that has ended may still be mapped: the rings that fill are those of the one
// that runs. It has begun after the last record of the ones before.
Result<void> RingEngine::look_for_others(PhysicalMemory& ram, const Paging& now) {
  if (options_.redox) return {};
  if (auto others = std::exchange(others_, std::nullopt)) {
    RINGSIDE_ASSIGN(const bool are_there, others->rings->are_there());
    const auto begun = others->rings->begun();
    if (are_there && begun && *begun != others->begun) {
      const bool are_new = have_given_;
      leave_rings();
      none_are_there_ = are_new;
      return use(std::move(others->rings), others->registers);
    }
  }
  const std::uint64_t began = monotonic_ns();
  if (began < next_search_ns_) return {};
  if (!finder_) finder_.emplace(ram, arch());
  if (const auto* const rings = dynamic_cast<const LibraryRings*>(rings_.get()))
    finder_->leave_out(rings->start());
  RINGSIDE_ASSIGN(auto area,
                  finder_->step([&now]() -> Result<const TablesOfVcpu*> { return &now.tables; }));
  search_ns_ += monotonic_ns() - began;
  if (finder_->is_done()) rest_from_search();
  if (area) others_ = others_in(std::move(*area), now);
  return {};
}

// Nothing where they are gone again.
std::optional<RingEngine::OtherRings> RingEngine::others_in(FoundArea area,
                                                            const Paging& now) const {
  const arch::Registers registers = area.registers.value_or(now.registers);
  auto rings = std::make_unique<LibraryRings>(std::move(area), vcpu_count());
  if (!rings->poll(nullptr, false)) return std::nullopt;
  const auto begun = rings->begun();
  if (!begun) return std::nullopt;
  return OtherRings{std::move(rings), *begun, registers};
}

void RingEngine::leave_rings() {
  constexpr std::size_t kMostLeft = 8;
  left_.push_back(std::move(rings_));
  if (left_.size() > kMostLeft) {
    before_ += left_.front()->counts();
    left_.erase(left_.begin());
  }
  others_.reset();
  finder_.reset();
  next_search_ns_ = 0;
  none_are_there_ = is_started_;
}

// The memory of a guest that has begun anew may be anything.
Result<void> RingEngine::poll_rings(bool is_last) {
  if (!rings_) return {};
  if (is_started_) RINGSIDE_TRY(follow_moves());
  auto polled = rings_->poll(is_started_ ? &*records_ : nullptr, is_last);
  if (polled || polled.error().code != ErrorCode::kUnreadable) return polled;
  leave_rings();
  return {};
}

// Records that were gathered before an error come before it.
Result<Tick> RingEngine::tick(const TickPlan& plan) {
  if (error_) return tl::unexpected<Error>(*std::exchange(error_, std::nullopt));
  auto taken = poll(plan);
  if (taken || !records_) return taken;
  Tick last = records_->take_out(monotonic_ns(), true);
  if (last.empty()) return taken;
  error_ = taken.error();
  return last;
}

Result<void> RingEngine::look_whether_there() {
  next_look_ns_ = monotonic_ns() + kLookNs;
  const auto are_there = rings_->are_there();
  if (!are_there && are_there.error().code != ErrorCode::kUnreadable)
    return tl::unexpected<Error>(are_there.error());
  if (!are_there || !*are_there) leave_rings();
  return {};
}

// To ask a vCPU may stop the guest: where it is in vain, the next time is later.
Result<void> RingEngine::follow_moves() {
  if (!rings_) return {};
  RINGSIDE_ASSIGN(const bool have_moved, rings_->wants_tables());
  if (!have_moved) moves_rest_ns_ = next_move_ns_ = 0;
  if (!have_moved || monotonic_ns() < next_move_ns_) return {};
  moves_rest_ns_ = std::clamp(2 * moves_rest_ns_, kPollNs, kLongestSearchRestNs);
  next_move_ns_ = monotonic_ns() + moves_rest_ns_;
  RINGSIDE_ASSIGN(PhysicalMemory* const memory, ram());
  const auto now = paging();
  if (!now && !may_pass(now.error())) return tl::unexpected<Error>(now.error());
  if (memory == nullptr || !now) return {};
  RINGSIDE_TRY(rings_->use_tables(now->tables, *memory));
  RINGSIDE_ASSIGN(const bool are_still_away, rings_->wants_tables());
  if (!are_still_away) moves_rest_ns_ = next_move_ns_ = 0;
  return {};
}

Result<Tick> RingEngine::poll(const TickPlan& plan) {
  const std::uint64_t now = monotonic_ns();
  if (is_started_ && !is_stopped_ && now < next_poll_ns_) sleep_ns(next_poll_ns_ - now);
  next_poll_ns_ = monotonic_ns() + kPollNs;
  if (rings_ && monotonic_ns() >= next_look_ns_) RINGSIDE_TRY(look_whether_there());
  if (!rings_ && !is_stopped_) RINGSIDE_TRY(find_rings());
  if (!rings_ && is_stopped_) RINGSIDE_TRY(find_rings_at_last());
  if (!is_started_) return Tick();
  if (records_) records_->set_plan(plan);
  RINGSIDE_TRY(poll_rings(is_stopped_));
  Tick tick = records_ ? records_->take_out(monotonic_ns(), is_stopped_) : Tick();
  if (!tick.empty()) {
    have_given_ = true;
    others_.reset();
  }
  if (!rest_.empty()) {
    std::swap(tick, rest_);
    std::move(rest_.captures.begin(), rest_.captures.end(), std::back_inserter(tick.captures));
    std::move(rest_.events.begin(), rest_.events.end(), std::back_inserter(tick.events));
    rest_ = {};
  }
  if (!tick.empty() || is_stopped_) {
    silent_since_ns_ = monotonic_ns();
    return tick;
  }
  if (monotonic_ns() - silent_since_ns_ < kSilenceNs) return tick;
  silent_since_ns_ = monotonic_ns();
  RINGSIDE_ASSIGN(const bool runs, way_in_->guest_is_running());
  if (!runs) tick.left_alone = LeftAlone::kPaused;
  if (!runs) return tick;
  const auto looked = look_again();
  if (!looked && !may_pass(looked.error())) return tl::unexpected<Error>(looked.error());
  return tick;
}

Result<void> RingEngine::start(const Pace&) {
  is_started_ = true;
  silent_since_ns_ = started_ns_ = monotonic_ns();
  finder_.reset();  // what it has not seen may have been made since
  next_search_ns_ = 0;
  return {};
}

void RingEngine::stop() { is_stopped_ = true; }

PaceCounts RingEngine::counts() const {
  PaceCounts counts;
  RingCounts lost = before_;
  if (rings_) lost += rings_->counts();
  for (const auto& left : left_) lost += left->counts();
  counts.no_room = std::min(lost.no_room, lost.lost_samples);
  counts.overwritten = lost.lost_samples - counts.no_room;
  counts.lost_events = lost.lost() - lost.lost_samples;
  counts.damaged = lost.damaged;
  counts.due = taken_ + (records_ ? records_->captures() : 0) + lost.lost_samples;
  return counts;
}

std::string RingEngine::explain_silence() const {
  if (rings_)
    return "the guest has rings, and has put no sample into them: it may have switched "
           "sampling off";
  if (!why_not_.empty()) return why_not_;
  return "no rings were found in the guest's memory: its kernel calls ringside_start() of "
         "ringside's guest library, and gives it memory that begins at a page";
}

Result<std::size_t> RingEngine::read_virtual(VcpuId vcpu, GuestVirt address,
                                             std::span<std::byte> destination) {
  return way_in_->virtual_memory(vcpu).read_up_to(address, destination);
}

}  // namespace ringside::engines::ring
