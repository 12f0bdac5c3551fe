#include "engines/gdb/gdb_engine.h"

#include <algorithm>
#include <array>

#include "engines/gdb/protocol/detach_sequence.h"
#include "engines/gdb/protocol/stub_client.h"
#include "engines/gdb/run_state_probe.h"
#include "engines/gdb/scoped_realtime_priority.h"
#include "engines/gdb/stub_thread.h"
#include "engines/gdb/stub_transport.h"
#include "engines/peer_process.h"
#include "engines/wave_sampler.h"

namespace ringside::engines::gdb {

GdbEngine::GdbEngine(std::unique_ptr<Stub> stub, Inventory inventory, std::string qemu_version,
                     pid_t stub_thread, bool reads_qemu_memory)
    : stub_(std::move(stub)),
      inventory_(std::move(inventory)),
      reads_(memory_reads_of(stub_->traits(), inventory_.has_x)),
      sliced_reads_(*stub_, inventory_, reads_, read_stops_, stub_thread),
      ram_(ram_access(reads_qemu_memory ? stub_thread : 0)),
      virtual_reads_(
          inventory_.layout.arch(), [this](VcpuId vcpu) { return read_registers(vcpu); },
          sliced_reads_, ram_),
      qemu_version_(std::move(qemu_version)),
      stub_thread_(stub_thread) {}

QemuRam::Access GdbEngine::ram_access(pid_t qemu) {
  QemuRam::Access access;
  access.qemu = qemu;
  access.monitor_command = [this](const std::string& command) -> Result<std::string> {
    if (!inventory_.has_physical_mode)
      return fail(ErrorCode::kUnsupported, "the stub does not give guest-physical memory");
    RINGSIDE_TRY(read_stops_.wait());
    RINGSIDE_ASSIGN(auto text, stub_->ask_monitor(command));
    if (stub_->state() != StopState::kPaused)
      read_stops_.count(stub_->last_stop_ns(), stub_->held_time().last_ns());
    return text;
  };
  access.visit_physical = [this](const std::vector<GuestPhys>& places, std::size_t size,
                                 const auto& visit) {
    return sliced_reads_.visit(places, size, visit);
  };
  access.make_fallback = [this](const std::vector<memory::RamRange>& ranges) {
    return std::make_unique<StubPhysicalMemory>(sliced_reads_, ranges);
  };
  return access;
}

Result<std::unique_ptr<GdbEngine>> GdbEngine::connect(const SocketAddress& address,
                                                      const Options& options) {
  std::unique_ptr<Guardian> guardian;
  const auto guard = [&](int socket) -> Result<void> {
    if (options.guardian) {
      RINGSIDE_ASSIGN(guardian, Guardian::start(socket, kDetachSequence));
      if (options.guest_was_running)
        guardian->set_state(*options.guest_was_running ? GuestState::kOurs : GuestState::kPaused);
    }
    return {};
  };
  RINGSIDE_TRY(wait_until_free(address, options.patience));
  const pid_t listener = listener_at(address);
  RINGSIDE_ASSIGN(auto claim, GuestClaim::take(is_qemu(listener) ? listener : 0));
  const RunStateProbe probe(options.guest_was_running ? 0 : listener);
  const auto did_run = [&](std::string_view info_cpus) {
    return probe.any_has_run(vcpu_threads(info_cpus));
  };
  RINGSIDE_ASSIGN(auto socket, connect_to(address, options.patience.timeout, guard));
  RINGSIDE_ASSIGN(auto engine, attach(std::move(socket), std::move(guardian), options, did_run));
  engine->claim_ = std::move(claim);
  return engine;
}

Result<std::unique_ptr<GdbEngine>> GdbEngine::attach(UniqueFd socket, const Options& options) {
  std::unique_ptr<Guardian> guardian;
  if (options.guardian) {
    RINGSIDE_ASSIGN(guardian, Guardian::start(socket.get(), kDetachSequence));
  }
  return attach(std::move(socket), std::move(guardian), options, {});
}

Result<std::unique_ptr<GdbEngine>> GdbEngine::attach(UniqueFd socket,
                                                     std::unique_ptr<Guardian> guardian,
                                                     const Options& options,
                                                     const DidRun& did_run) {
  Connection connection(std::move(socket));
  auto met =
      shake_hands(connection, guardian.get(), options.guest_was_running, did_run, options.patience);
  if (!met) {
    // The stub may get to our connection later, and stops the guest for it.
    if (guardian) guardian->abandon();
    return tl::unexpected<Error>(std::move(met).error());
  }
  Greeting greeting = std::move(*met);
  const pid_t stub_thread =
      options.stub_thread ? options.stub_thread : stub_thread_behind(connection.fd());
  auto stub = std::make_unique<Stub>(std::move(connection), greeting.traits, std::move(guardian),
                                     options.patience, greeting.guest_was_running,
                                     options.migration_watch.value_or(MigrationWatch(stub_thread)));
  // On an error the stub's destructor lets the guest run again.
  RINGSIDE_ASSIGN(Inventory inventory, take_inventory(*stub, greeting.describes_registers));
  HostWaits waits;
  if (stub_thread > 0 && stub->traits().qemu) {
    RINGSIDE_ASSIGN(const std::string cpus, stub->ask_monitor("info cpus"));
    waits = HostWaits(stub_thread, vcpu_threads(cpus), inventory.threads.size());
  }
  if (greeting.guest_was_running) RINGSIDE_TRY(stub->resume());
  std::unique_ptr<GdbEngine> engine(new GdbEngine(std::move(stub), std::move(inventory),
                                                  std::move(greeting.qemu_version), stub_thread,
                                                  options.reads_qemu_memory));
  engine->waits_ = std::move(waits);
  engine->captures_paused_ = options.captures_paused;
  if (engine->stub_->traits().qemu) engine->schedule_stub_first(stub_thread);
  return engine;
}

GdbEngine::~GdbEngine() { restore_stub_scheduling(); }

void GdbEngine::detach() {
  restore_stub_scheduling();
  stub_->end();
}

void GdbEngine::restore_stub_scheduling() {
  if (!scheduling_before_) return;
  restore_scheduling(*scheduling_before_);
  stub_->restore_on_death(std::nullopt);
  scheduling_before_.reset();
}

// With all processors busy running vCPUs, the main loop would get one only when a vCPU's time slice
// ends, some milliseconds after it was asked to stop the guest; and it would then run the guest's
// timers that came due meanwhile, so that samples would pile up in interrupt handlers.
void GdbEngine::schedule_stub_first(pid_t thread) {
  if (thread <= 0 || !host_is_crowded(inventory_.threads.size())) return;
  scheduling_before_ = schedule_first(thread);
  stub_->restore_on_death(scheduling_before_);
}

Result<bool> GdbEngine::guest_is_running() {
  RINGSIDE_TRY(stub_->notice_stops());
  if (stub_->state() != StopState::kPaused) return true;
  Batch batch;
  batch.add("qAttached");
  const auto stopped = stub_->stop(batch);
  if (!stopped && stopped.error().code == ErrorCode::kMigrating) return false;
  if (!stopped) return tl::unexpected<Error>(stopped.error());
  // If it was our request that stopped the guest, its user had resumed it.
  if (stopped->ours) RINGSIDE_TRY(stub_->resume());
  if (stub_->migration() == Migration::kMoved)
    return fail_for(Migration::kMoved, stub_->left_standing());
  return stub_->state() == StopState::kRunning;
}

LeftAlone GdbEngine::left_alone() const {
  if (stub_->state() != StopState::kPaused) return LeftAlone::kNo;
  if (stub_->leaves_guest_alone()) return LeftAlone::kMigrating;
  return stub_->migration() == Migration::kIncoming ? LeftAlone::kIncoming : LeftAlone::kPaused;
}

Result<Tick> GdbEngine::tick(const TickPlan& plan) {
  RINGSIDE_TRY(stub_->notice_stops());
  if (!captures_paused_ && stub_->state() == StopState::kPaused) {
    RINGSIDE_ASSIGN(const bool runs, guest_is_running());  // tells why not, too
    if (!runs) return Tick::of_guest(left_alone());
  }
  waits_.poll();
  StubTransport transport(*stub_, inventory_, reads_, captures_paused_, waits_, ram_.direct(),
                          stopped_pages_);
  auto tick = WaveSampler(transport, arch(), vcpu_count()).run(plan);
  if (!tick && is_of_migration(tick.error())) return Tick::of_guest(LeftAlone::kMigrating);
  if (tick) waits_.leave_out(*tick, plan.states);
  return tick;
}

Result<arch::Registers> GdbEngine::read_registers(VcpuId vcpu) {
  if (vcpu.value >= inventory_.threads.size())
    return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  constexpr std::array kAll{AskedFor::kEverySample, AskedFor::kKernelSample, AskedFor::kOnDemand};
  Batch batch;
  const std::string& name = inventory_.threads[vcpu.value].name;
  if (!name.empty()) batch.add("Hg" + name);
  const std::size_t first = batch.size();
  batch.add("g");
  for (const AskedFor when : kAll)
    for (const std::uint32_t number : inventory_.layout.numbers_for_p(when))
      batch.add(fmt::format("p{:x}", number));
  RINGSIDE_TRY(read_stops_.wait());
  const ScopedRealtimePriority priority(*stub_, stub_thread_);
  RINGSIDE_ASSIGN(const auto stopped, stub_->stop(batch));
  if (stopped.ours) RINGSIDE_TRY(stub_->resume());
  if (stopped.ours) read_stops_.count(stopped.stopped_ns, stub_->held_time().last_ns());
  arch::Registers registers;
  inventory_.layout.decode_g(stopped.replies[first], registers);
  std::size_t reply = first + 1;
  for (const AskedFor when : kAll)
    for (std::size_t n = 0; n < inventory_.layout.numbers_for_p(when).size(); ++n)
      inventory_.layout.decode_p(when, n, stopped.replies[reply++], registers);
  return registers;
}

Result<std::size_t> GdbEngine::read_virtual(VcpuId vcpu, GuestVirt address,
                                            std::span<std::byte> destination) {
  if (vcpu.value >= inventory_.threads.size())
    return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  return virtual_reads_.read(vcpu, address, destination);
}

Result<void> GdbEngine::with_memory(const std::function<Result<void>(const ReadMemory&)>& read) {
  Batch batch;
  batch.add("qAttached");
  RINGSIDE_ASSIGN(const auto stopped, stub_->stop(batch));
  auto result = read([this](VcpuId vcpu, GuestVirt address, std::span<std::byte> destination) {
    return read_memory(vcpu, address, destination);
  });
  if (stub_->state() == StopState::kHeld) RINGSIDE_TRY(stub_->resume());
  return result;
}

Result<std::size_t> GdbEngine::read_memory(VcpuId vcpu, GuestVirt address,
                                           std::span<std::byte> destination) {
  if (vcpu.value >= inventory_.threads.size())
    return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  // As many requests at once as answers fit into socket buffers without much waiting.
  constexpr std::size_t kAtOnce = 256 * 1024;
  std::size_t done = 0;
  while (done < destination.size()) {
    const std::size_t size = std::min(kAtOnce, destination.size() - done);
    Batch batch;
    const std::string& name = inventory_.threads[vcpu.value].name;
    if (!name.empty()) batch.add("Hg" + name);
    const std::size_t first = batch.size();
    std::vector<std::size_t> sizes;
    for_each_chunk(address + done, size, reads_.chunk, [&](GuestVirt at, std::size_t step) {
      batch.add(memory_request(reads_, at, step));
      sizes.push_back(step);
    });
    RINGSIDE_ASSIGN(const auto replies, stub_->exchange(batch));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t got =
          decode_memory(reads_, replies[first + i], destination.subspan(done, sizes[i]));
      done += got;
      if (got < sizes[i]) return done;
    }
  }
  return done;
}

}  // namespace ringside::engines::gdb
