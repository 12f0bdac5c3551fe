#include "engines/qmp/hmp_engine.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "base/clock.h"
#include "engines/gdb/stub_thread.h"
#include "engines/patience.h"
#include "engines/qmp/detach_sequence.h"
#include "engines/qmp/guest_hold.h"
#include "engines/qmp/hmp_memory.h"
#include "engines/qmp/hmp_registers.h"
#include "engines/qmp/hmp_translations.h"
#include "engines/qmp/hmp_transport.h"
#include "engines/wave_sampler.h"
#include "memory/address_space.h"
#include "memory/page_tables.h"

namespace ringside::engines::qmp {
namespace {

constexpr std::uint64_t kPatienceNs = 2'000'000'000;
constexpr std::size_t kMostVcpus = 1024;
constexpr std::chrono::milliseconds kTimeForLeft{1000};
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kPagesAtOnce = 64;

// QEMU's threads that run the vCPUs, by vCPU number, as far as it reports them.
std::vector<pid_t> vcpu_threads(const nlohmann::json& cpus) {
  std::vector<pid_t> threads(cpus.size());
  for (const auto& cpu : cpus) {
    if (!cpu.is_object()) continue;
    const auto number = cpu.value("cpu-index", nlohmann::json());
    const auto thread = cpu.value("thread-id", nlohmann::json());
    if (!number.is_number_unsigned() || !thread.is_number_integer()) continue;
    const auto index = number.get<std::size_t>();
    if (index < threads.size()) threads[index] = thread.get<pid_t>();
  }
  return threads;
}

}  // namespace

Result<std::unique_ptr<HmpEngine>> HmpEngine::start(Monitor monitor, const Options& options) {
  RINGSIDE_ASSIGN(const auto target, monitor.execute("query-target", {}));
  const auto name = target.is_object() ? target.value("arch", nlohmann::json()) : nlohmann::json();
  const Arch arch = arch::arch_named(text_of(name));
  if (arch == Arch::kUnknown)
    return fail(ErrorCode::kUnsupported, "ringside does not know the architecture {}",
                text_of(name));
  RINGSIDE_ASSIGN(const auto cpus, monitor.execute("query-cpus-fast", {}));
  const std::size_t vcpus = cpus.is_array() ? cpus.size() : 0;
  if (vcpus == 0 || vcpus > kMostVcpus)
    return fail(ErrorCode::kProtocol, "{}: query-cpus-fast reports {} vCPUs", monitor.name(),
                vcpus);
  RINGSIDE_TRY(monitor.status());
  const pid_t qemu = gdb::stub_thread_behind(monitor.socket());
  GuestClaim claim;
  std::unique_ptr<Guardian> guardian;
  if (options.stops_the_guest) {
    RINGSIDE_ASSIGN(claim, GuestClaim::take(qemu));
    RINGSIDE_ASSIGN(guardian, Guardian::start(monitor.socket(), kDetachSequence));
  }
  std::unique_ptr<HmpEngine> engine(
      new HmpEngine(std::move(monitor), std::move(guardian), options, arch, vcpus));
  engine->claim_ = std::move(claim);
  // As with the gdb engine: a stop lasts as long as somebody else has the main loop's processor.
  if (qemu > 0 && host_is_crowded(vcpus)) engine->scheduling_before_ = schedule_first(qemu);
  engine->host_waits_ = HostWaits(qemu, vcpu_threads(cpus), vcpus);
  if (engine->guardian_) engine->guardian_->restore_on_death(engine->scheduling_before_);
  return engine;
}

HmpEngine::~HmpEngine() {
  // A migration that has failed leaves the guest to us; one that has not ended leaves it alone.
  if (watch_.left_standing()) {
    monitor_.set_patience({kTimeForLeft});
    (void)HmpEngine::guest_is_running();
  }
  // A sample's end could not be sent: the guardian keeps the connection and lets the guest run.
  if (guardian_ && guardian_->state() == GuestState::kOurs) guardian_->abandon();
  if (!scheduling_before_) return;
  restore_scheduling(*scheduling_before_);
  if (guardian_) guardian_->restore_on_death(std::nullopt);
}

std::vector<std::string> HmpEngine::caveats() const {
  std::vector<std::string> caveats;
  if (!options_.stops_the_guest)
    caveats.emplace_back(
        "the guest was not stopped for samples: registers and stacks are of different moments, so "
        "that stacks may be torn");
  if (arch_ == Arch::kAArch64)
    caveats.emplace_back(
        "QEMU's monitor does not print aarch64's system registers: what an exception has just "
        "interrupted is not known, nor which address space user code runs in");
  return caveats;
}

Result<void> HmpEngine::ask_migration() {
  RINGSIDE_ASSIGN(const Migration migration, monitor_.migration());
  watch_.answered(migration, monotonic_ns());
  if (monitor_.guest_runs()) watch_.set_left_standing(false);
  return {};
}

// A guest that is not stopped for samples can be sampled while it is migrated.
LeftAlone HmpEngine::left_alone() const {
  const bool runs = monitor_.guest_runs();
  if (runs && !options_.stops_the_guest) return LeftAlone::kNo;
  const Migration migration = watch_.migration();
  if (watch_.is_under_way() || (migration == Migration::kMoved && !runs))
    return LeftAlone::kMigrating;
  if (runs) return LeftAlone::kNo;
  return migration == Migration::kIncoming ? LeftAlone::kIncoming : LeftAlone::kPaused;
}

Result<bool> HmpEngine::guest_is_running() {
  RINGSIDE_TRY(ask_migration());
  const LeftAlone why = left_alone();
  if (watch_.migration() == Migration::kMoved && why == LeftAlone::kMigrating)
    return fail_for(Migration::kMoved, watch_.left_standing());
  if (why == LeftAlone::kPaused && watch_.left_standing()) {
    RINGSIDE_TRY(monitor_.execute("cont", {}));
    watch_.set_left_standing(false);
    return true;
  }
  return why == LeftAlone::kNo;
}

Result<Tick> HmpEngine::tick(const TickPlan& plan) {
  monitor_.take_events();
  const bool has_reason = options_.stops_the_guest && watch_.asks_at_stop();
  // QEMU's end shows in an answer only.
  if (has_reason || !monitor_.guest_runs() || watch_.is_under_way()) RINGSIDE_TRY(ask_migration());
  const bool runs = monitor_.guest_runs();
  const LeftAlone why = left_alone();
  if (why != LeftAlone::kNo && (runs || !options_.captures_paused)) return Tick::of_guest(why);
  memory::RamMemory* const ram = qemus_memory() != nullptr ? ram_.direct() : nullptr;
  const bool stops = options_.stops_the_guest && runs;
  GuestHold hold(monitor_, guardian_.get(), stops, watch_, held_time_);
  host_waits_.poll();
  HmpTransport transport(hold, arch_, vcpus_, wait_instructions_, host_waits_, ram, stopped_pages_);
  auto tick = WaveSampler(transport, arch_, vcpus_).run(plan);
  if (!tick && is_of_migration(tick.error())) return Tick::of_guest(LeftAlone::kMigrating);
  if (tick && stops) host_waits_.leave_out(*tick, plan.states);
  return tick;
}

Result<arch::Registers> HmpEngine::read_registers(VcpuId vcpu) {
  RINGSIDE_ASSIGN(const std::string text, monitor_.human("info registers -a"));
  for (const PrintedVcpu& printed : parse_info_registers(arch_, text))
    if (printed.vcpu == vcpu) return printed.registers;
  if (vcpu.value >= vcpus_) return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  return fail(ErrorCode::kProtocol, "{}: 'info registers -a' prints none of vCPU {}",
              monitor_.name(), vcpu.value);
}

Result<std::size_t> HmpEngine::read_blocks(VcpuId vcpu, GuestVirt address,
                                           std::span<std::byte> destination) {
  if (vcpu.value >= vcpus_) return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  std::size_t done = 0;
  while (done < destination.size()) {
    const auto block = destination.subspan(done, std::min(kDumpBytes, destination.size() - done));
    Requests request;
    request.add_human(dump_command("x", address.value + done, block.size()), vcpu);
    RINGSIDE_ASSIGN(const auto answers, monitor_.exchange(request));
    const std::size_t got = parse_dump(text_of(answers[0]), address.value + done, block);
    done += got;
    if (got < block.size()) break;
  }
  return done;
}

// Null where it cannot be read.
PhysicalMemory* HmpEngine::qemus_memory() {
  const auto ram = ram_.find();
  return ram && ram_.reads_qemu() ? *ram : nullptr;
}

// Page by page, by `gva2gpa`: three times as fast as dumps.
Result<std::size_t> HmpEngine::read_translated(VcpuId vcpu, GuestVirt address,
                                               std::span<std::byte> destination,
                                               PhysicalMemory& physical) {
  std::size_t done = 0;
  while (done < destination.size()) {
    Requests requests;
    std::vector<std::size_t> sizes;
    for (std::size_t at = done; at < destination.size() && sizes.size() < kPagesAtOnce;) {
      const std::uint64_t place = address.value + at;
      requests.add_human(fmt::format("gva2gpa {:#x}", place), vcpu);
      sizes.push_back(std::min<std::size_t>(kPage - place % kPage, destination.size() - at));
      at += sizes.back();
    }
    RINGSIDE_ASSIGN(const auto answers, monitor_.exchange(requests));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto place = parse_translation(text_of(answers[i]));
      if (!place) return done;
      RINGSIDE_ASSIGN(const std::size_t got,
                      physical.read_up_to(*place, destination.subspan(done, sizes[i])));
      done += got;
      if (got < sizes[i]) return done;
    }
  }
  return done;
}

Result<std::size_t> HmpEngine::read_once(VcpuId vcpu, GuestVirt address,
                                         std::span<std::byte> destination) {
  if (vcpu.value >= vcpus_) return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  PhysicalMemory* const physical = qemus_memory();
  if (physical == nullptr) {
    explanation_ = "the monitor's dumps of memory, while the guest runs";
    return read_blocks(vcpu, address, destination);
  }
  RINGSIDE_ASSIGN(const arch::Registers registers, read_registers(vcpu));
  if (const auto tables = memory::page_tables_of(arch_, registers)) {
    explanation_ = "page walks over " + ram_.explain();
    return memory::AddressSpace(*tables, *physical).read_up_to(address, destination);
  }
  explanation_ = "the monitor's translations over " + ram_.explain();
  return read_translated(vcpu, address, destination, *physical);
}

// With page-table isolation the kernel is not mapped while user code runs, and on riscv64 no
// address is virtual while firmware runs.
Result<bool> HmpEngine::may_be_hidden(VcpuId vcpu, GuestVirt address) {
  const arch::ArchInfo& info = arch::info_of(arch_);
  if (!info.in_upper_half(address.value)) return false;
  RINGSIDE_ASSIGN(const arch::Registers registers, read_registers(vcpu));
  const PrivilegeLevel level = arch::privilege_level_of(arch_, registers);
  return level == PrivilegeLevel::kUser ||
         (info.firmware_is_physical && level == PrivilegeLevel::kFirmware);
}

Result<PhysicalMemory*> HmpEngine::physical_memory() {
  auto found = ram_.find();
  if (found) explanation_ = "page walks over " + ram_.explain();
  return found;
}

std::unique_ptr<memory::PageTables> HmpEngine::machines_page_tables(VcpuId vcpu) {
  if (arch_ != Arch::kAArch64) return nullptr;
  return std::make_unique<HmpTranslations>(monitor_, vcpu);
}

Result<std::size_t> HmpEngine::read_virtual(VcpuId vcpu, GuestVirt address,
                                            std::span<std::byte> destination) {
  std::size_t done = 0;
  bool was_hidden = true;  // once more, for it may have been until just now
  const std::uint64_t end = monotonic_ns() + kPatienceNs;
  for (unsigned tries = 0;; ++tries) {
    // Answers come at once, so no wait for one would notice.
    if (monitor_.is_over()) return fail(ErrorCode::kDisturbed, "interrupted while memory was read");
    RINGSIDE_ASSIGN(const std::size_t got,
                    read_once(vcpu, address + done, destination.subspan(done)));
    done += got;
    if (done == destination.size() || monotonic_ns() >= end) return done;
    RINGSIDE_ASSIGN(const bool is_hidden, may_be_hidden(vcpu, address + done));
    if (!is_hidden && !was_hidden) return done;
    was_hidden = is_hidden;
    rest_between_tries(tries);
  }
}

}  // namespace ringside::engines::qmp
