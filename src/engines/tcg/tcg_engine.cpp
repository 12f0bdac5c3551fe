#include "engines/tcg/tcg_engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arch/arch_info.h"
#include "base/clock.h"
#include "engines/qmp/monitor_ram.h"
#include "wire/futex.h"

namespace ringside::engines::tcg {
namespace {

using std::chrono::milliseconds;

// For samples, which lie in the ring meanwhile; the plugin rings where one must not wait. Shorter
// while what samples are to copy is still changing.
constexpr std::uint64_t kShortestWaitNs = 1'000'000;
constexpr std::uint64_t kLongestWaitNs = 10'000'000;
constexpr std::size_t kUsualCaptures = 16;
constexpr milliseconds kPatience{20};         // with a vCPU that is asked for memory
constexpr milliseconds kKernelPatience{100};  // that it enters the kernel
// In lockstep the vCPU whose sample it is waits for the question: however long the host keeps it
// from answering, the same run gives the same answer.
constexpr milliseconds kLockstepPatience{10'000};
constexpr std::uint64_t kStatusIntervalNs = 200'000'000;

// Kernels of all four architectures live in the upper half; on i386 that is most often 3 GiB up.
bool is_kernel_address(Arch arch, GuestVirt address) {
  return arch::info_of(arch).in_upper_half(address.value);
}

bool same(const wire::RingPlan& a, const wire::RingPlan& b) {
  return std::memcmp(&a, &b, offsetof(wire::RingPlan, recipe) + a.ops * sizeof(wire::RecipeOp)) ==
         0;
}

wire::RingPlan ring_plan(const TickPlan& plan, std::size_t vcpu) {
  wire::RingPlan result;
  if (vcpu >= plan.vcpus.size()) return result;
  const VcpuPlan& wanted = plan.vcpus[vcpu];
  result.wanted = wanted.wanted ? 1 : 0;
  result.kernel = plan.kernel ? 1 : 0;
  result.user = plan.user ? 1 : 0;
  result.recipe_arch = static_cast<std::uint32_t>(plan.recipe_arch);
  result.kernel_budget = wanted.kernel_budget;
  result.user_budget = wanted.user_budget;
  result.ops = static_cast<std::uint32_t>(wanted.recipe.size());
  std::copy_n(wanted.recipe.begin(), result.ops, result.recipe.begin());
  return result;
}

}  // namespace

Result<std::unique_ptr<TcgEngine>> TcgEngine::connect(const std::filesystem::path& ring,
                                                      const std::optional<SocketAddress>& monitor,
                                                      const Patience& patience) {
  RINGSIDE_ASSIGN(auto map, RingMap::open(ring));
  std::optional<qmp::Monitor> connected;
  if (monitor) {
    RINGSIDE_ASSIGN(connected, qmp::Monitor::connect(*monitor, patience));
  }
  return std::unique_ptr<TcgEngine>(new TcgEngine(std::move(map), std::move(connected)));
}

TcgEngine::TcgEngine(RingMap ring, std::optional<qmp::Monitor> monitor)
    : ring_(std::move(ring)),
      mailbox_(ring_),
      monitor_(std::move(monitor)),
      counted_(ring_.vcpus()) {
  for (std::size_t n = 0; n < counted_.size(); ++n) counted_[n] = counts_of(n);
  due_before_ = due_ticks();
  if (monitor_) ram_.emplace(qmp::ram_access(*monitor_, static_cast<pid_t>(ring_.header().pid)));
}

TcgEngine::~TcgEngine() { stop(); }

Result<void> TcgEngine::start(const Pace& pace) {
  wire::RingHeader& header = ring_.header();
  if (pace.lockstep && (header.features & wire::kRingWaits) == 0)
    return fail(ErrorCode::kUnsupported,
                "the plugin in this QEMU cannot wait for its reader, as --deterministic needs; use "
                "the plugin that came with this ringside");
  pace_ = pace;
  header.interval.store(pace.interval, std::memory_order_relaxed);
  header.jitter.store(pace.jitter ? 1 : 0, std::memory_order_relaxed);
  header.seed.store(pace.seed, std::memory_order_relaxed);
  header.start.fetch_add(1, std::memory_order_release);
  clock().backpressure.store(
      pace.lockstep ? wire::Backpressure::kLockstep : wire::Backpressure::kDrop,
      std::memory_order_relaxed);
  clock().enabled.store(1, std::memory_order_release);
  ring_.ring_doorbell();
  return {};
}

void TcgEngine::stop() {
  clock().enabled.store(0, std::memory_order_release);
  clock().backpressure.store(wire::Backpressure::kDrop, std::memory_order_release);
  pace_.lockstep = false;
  ring_.release();
  ring_.ring_doorbell();
}

std::uint64_t TcgEngine::due_ticks() const {
  std::uint64_t due = 0;
  for (std::size_t n = 0; n < ring_.vcpus(); ++n)
    due += ring_.counter(n, wire::RingCounter::kDueTicks);
  return due;
}

std::uint64_t TcgEngine::known_ticks() const { return accounted_ + stolen_ + ring_full_; }

// Ticks that the plugin has counted as due and those that have arrived are counted apart: missing
// ones are lost. Where the plugin gives no other reason its vCPU has not come to take the sample.
PaceCounts TcgEngine::counts() const {
  const std::uint64_t due = due_ticks() - due_before_;
  return {due, stolen_, ring_full_, due - std::min(due, known_ticks())};
}

bool TcgEngine::counts_instructions() const {
  return ring_.header().clock == wire::RingClock::kInstructions;
}

bool TcgEngine::has_ended() const {
  return ring_.header().ended.load(std::memory_order_acquire) != 0 || !ring_.plugin_is_there();
}

Result<bool> TcgEngine::guest_is_running() {
  if (has_ended()) return fail(ErrorCode::kClosed, "QEMU has ended");
  if (!monitor_) return true;
  monitor_->take_events();
  RINGSIDE_ASSIGN(migration_, monitor_->migration());
  const bool runs = monitor_->guest_runs();
  if (!runs && migration_ == Migration::kMoved) return fail_for(migration_, false);
  if (runs && std::exchange(pauses_, false)) RINGSIDE_TRY(start(pace_));
  return runs;
}

// A guest that stands still looks idle from inside. The plugin disturbs no migration.
LeftAlone TcgEngine::left_alone() {
  const std::uint64_t now = monotonic_ns();
  // In lockstep QEMU's main loop may wait for a vCPU that waits for us.
  if (!monitor_ || pace_.lockstep || now < next_status_ns_) return LeftAlone::kNo;
  next_status_ns_ = now + kStatusIntervalNs;
  const auto runs = guest_is_running();
  const bool has_moved = !runs && runs.error().code == ErrorCode::kMoved;
  if (!has_moved && (!runs || *runs)) return LeftAlone::kNo;
  if (clock().enabled.exchange(0, std::memory_order_acq_rel) != 0) pauses_ = true;
  if (has_moved || migration_ == Migration::kFinishing) return LeftAlone::kMigrating;
  return migration_ == Migration::kIncoming ? LeftAlone::kIncoming : LeftAlone::kPaused;
}

Result<void> TcgEngine::send(const TickPlan& plan) {
  for (std::size_t n = 0; n < ring_.vcpus(); ++n) {
    if (n < plan.vcpus.size() && plan.vcpus[n].recipe.size() > wire::kMaxRecipeOps)
      return fail(ErrorCode::kUnsupported, "a recipe of {} operations; a ring has room for {}",
                  plan.vcpus[n].recipe.size(), wire::kMaxRecipeOps);
    const wire::RingPlan next = ring_plan(plan, n);
    if (n < plans_.size() && same(next, plans_[n])) continue;
    plans_.resize(std::max(plans_.size(), n + 1));
    plans_[n] = next;
    wait_ns_ = kShortestWaitNs;
    ring_.vcpu(n).plan.store(next);
  }
  return {};
}

TcgEngine::Counted TcgEngine::counts_of(std::size_t n) const {
  return {ring_.counter(n, wire::RingCounter::kIdleTicks),
          ring_.counter(n, wire::RingCounter::kSkippedTicks),
          ring_.counter(n, wire::RingCounter::kStolenTicks),
          ring_.counter(n, wire::RingCounter::kLostTicks)};
}

// Ticks of which nothing but their number is known.
void TcgEngine::add_counted(std::size_t vcpu, wire::Disposition what, std::uint64_t ticks,
                            Tick& tick) {
  if (ticks == 0) return;
  wire::Capture& capture = tick.captures.emplace_back();
  capture.vcpu = VcpuId{static_cast<std::uint16_t>(vcpu)};
  capture.arch = arch();
  capture.disposition = what;
  capture.host_time_ns = monotonic_ns();
  capture.weight = ticks;
}

Result<void> TcgEngine::take(Tick& tick) {
  tick.captures.reserve(kUsualCaptures);
  for (std::size_t n = 0; n < ring_.vcpus(); ++n) {
    const Counted now = counts_of(n);
    while (true) {
      wire::Capture& capture = tick.captures.emplace_back();
      RINGSIDE_ASSIGN(const auto record, ring_.next(n, capture));
      if (!record) {
        tick.captures.pop_back();
        break;
      }
      if (record->origin.source != wire::SourceId::kClock ||
          record->kind != wire::RecordKind::kCapture)
        return fail(ErrorCode::kFormat, "the plugin sent a record of source {}, which is disabled",
                    static_cast<unsigned>(record->origin.source));
      accounted_ += capture.weight;
    }
    Counted& before = counted_[n];
    add_counted(n, wire::Disposition::kIdle, now.idle - before.idle, tick);
    add_counted(n, wire::Disposition::kSkipped, now.skipped - before.skipped, tick);
    accounted_ += now.idle - before.idle + now.skipped - before.skipped;
    stolen_ += now.stolen - before.stolen;
    ring_full_ += now.ring_full - before.ring_full;
    before = now;
  }
  // A tick of an earlier ringside that a vCPU had not come to is this one's.
  due_before_ = std::min(due_before_, due_ticks() - known_ticks());
  if (!pace_.lockstep) ring_.release();
  const auto is_earlier = [](const wire::Capture& a, const wire::Capture& b) {
    return a.host_time_ns < b.host_time_ns;
  };
  // One vCPU's are in order.
  if (!std::is_sorted(tick.captures.begin(), tick.captures.end(), is_earlier))
    std::stable_sort(tick.captures.begin(), tick.captures.end(), is_earlier);
  return {};
}

// Until the plugin rings, or enough may have been sampled.
void TcgEngine::wait_for_samples() {
  const std::atomic<std::uint32_t>& bell = ring_.header().bell;
  const std::uint64_t until = taken_ns_ + wait_ns_;
  if (monotonic_ns() < until) wire::futex_wait(bell, bell_seen_, until);
  bell_seen_ = bell.load(std::memory_order_acquire);
  taken_ns_ = monotonic_ns();
  wait_ns_ = std::min(2 * wait_ns_, kLongestWaitNs);
}

Result<Tick> TcgEngine::tick(const TickPlan& plan) {
  RINGSIDE_TRY(send(plan));
  if (pace_.lockstep) ring_.release();
  wait_for_samples();
  Tick tick;
  const wire::RingHeader& header = ring_.header();
  RINGSIDE_TRY(take(tick));
  const bool ended = tick.captures.empty() && has_ended();
  // Samples from before the end are still to be taken.
  if (ended) RINGSIDE_TRY(take(tick));
  if (!tick.captures.empty()) return tick;
  if (header.one_thread.load(std::memory_order_relaxed) != 0)
    return fail(ErrorCode::kUnsupported,
                "all vCPUs of this guest share one thread (-icount or thread=single), where QEMU's "
                "plugins cannot distinguish them; use --engine gdb, or one vCPU");
  if (ended) return fail(ErrorCode::kClosed, "QEMU has ended");
  tick.left_alone = left_alone();
  return tick;
}

Result<arch::Registers> TcgEngine::read_registers(VcpuId vcpu) {
  if (vcpu.value >= vcpu_count()) return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  const auto registers = mailbox_.registers(vcpu, kKernelPatience);
  if (!registers)
    return fail(ErrorCode::kTimeout, "vCPU {} is idle, and gives its registers only while it runs",
                vcpu.value);
  return *registers;
}

Result<PhysicalMemory*> TcgEngine::physical_memory() {
  if (ram_) return ram_->find();
  return fail(ErrorCode::kUnsupported,
              "the plugin reads virtual memory only, and no monitor of QEMU is there (--qmp)");
}

// The vCPU that is asked first is the one; where it sleeps another one has the kernel mapped, too.
Result<std::size_t> TcgEngine::read_virtual(VcpuId vcpu, GuestVirt address,
                                            std::span<std::byte> destination) {
  if (vcpu.value >= vcpu_count()) return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  if (has_ended()) return fail(ErrorCode::kClosed, "QEMU has ended");
  const bool kernel = is_kernel_address(arch(), address);
  std::size_t done = 0;
  while (done < destination.size()) {
    std::optional<std::size_t> got;
    for (std::size_t n = 0; n < vcpu_count() && !got; ++n) {
      const VcpuId asked{static_cast<std::uint16_t>((vcpu.value + n) % vcpu_count())};
      if (ring_.vcpu(asked.value).online.load(std::memory_order_relaxed) == 0) continue;
      got =
          mailbox_.read(asked, wire::MailboxRequest::kMemory, address + done,
                        destination.subspan(done), pace_.lockstep ? kLockstepPatience : kPatience);
      if (kernel && (!got || *got == 0))
        got = mailbox_.read(asked, wire::MailboxRequest::kKernelMemory, address + done,
                            destination.subspan(done), kKernelPatience);
      if (!kernel) break;
    }
    if (!got || *got == 0) break;
    done += *got;
  }
  return done;
}

std::string TcgEngine::explain_memory_access() const {
  if (ram_ && ram_->reads_qemu()) return "page walks over " + ram_->explain();
  return "the plugin reads the guest's memory in a vCPU's thread";
}

}  // namespace ringside::engines::tcg
