#include "engines/qmp/lent_stub_engine.h"

#include <algorithm>

#include "base/clock.h"
#include "engines/gdb/protocol/stub_client.h"
#include "engines/qmp/users_stub.h"

namespace ringside::engines::qmp {
namespace {

// A client gets the stub within 0.1 s on a host that runs three times as much as it has processors.
constexpr std::uint64_t kLookEveryNs = 15'000'000;
constexpr std::uint64_t kRestsOfALook = 20;  // and at least so many times as long as a look takes

// One that comes while ours connects is the next to be served.
bool serves_nobody(const SocketAddress& stub) {
  return !gdb::has_client(stub) && !gdb::has_waiting_client(stub);
}

}  // namespace

LentStubEngine::LentStubEngine(GuestClaim claim, std::unique_ptr<QmpEngine> stub,
                               SocketAddress address, bool captures_paused)
    : claim_(std::move(claim)),
      stub_(std::move(stub)),
      address_(std::move(address)),
      captures_paused_(captures_paused),
      began_ns_(monotonic_ns()) {
  stub_->set_read_turns(this);
}

Result<std::unique_ptr<LentStubEngine>> LentStubEngine::attach(Monitor& monitor,
                                                               const gdb::Options& options) {
  RINGSIDE_ASSIGN(const auto users, find_users_stub(monitor));
  if (!users) return fail(ErrorCode::kNotFound, "the guest has no gdb stub");
  const std::string left = "the guest's gdb stub (" + users->filename + ") is left to its user";
  const pid_t qemu = monitor.peer();
  const auto address = watched_address(*users, qemu);
  if (users->has_client || (address && !serves_nobody(*address)))
    return fail(ErrorCode::kUnsupported, "{}: it has a client", left);
  if (!address)
    return fail(ErrorCode::kUnsupported, "{}: whether a client waits for it cannot be seen", left);
  RINGSIDE_ASSIGN(auto claim, GuestClaim::take(qemu));
  RINGSIDE_ASSIGN(auto stub, QmpEngine::attach_to(monitor, *address, options));
  return std::unique_ptr<LentStubEngine>(
      new LentStubEngine(std::move(claim), std::move(stub), *address, options.captures_paused));
}

void LentStubEngine::look_for_client() {
  const std::uint64_t now = monotonic_ns();
  if (!stub_ || is_wanted_ || now < looked_ns_ + look_after_ns_) return;
  is_wanted_ = gdb::has_waiting_client(address_);
  looked_ns_ = monotonic_ns();
  // A host with thousands of sockets has long tables.
  look_after_ns_ = std::max(kLookEveryNs, (looked_ns_ - now) * kRestsOfALook);
}

// The client first. Where there is no way any more, the stub's engine still tells what the guest
// is.
Result<void> LentStubEngine::give_back_if_wanted() {
  if (failure_) return tl::unexpected<Error>(*failure_);
  look_for_client();
  if (!stub_ || !is_wanted_ || reads_ != 0) return {};
  given_back_ns_ = monotonic_ns();
  auto text = HmpEngine::start(stub_->give_back(), {true, captures_paused_});
  if (!text) {
    failure_ = text.error();
    return tl::unexpected<Error>(*failure_);
  }
  pauses_before_ = stub_->memory_pauses();
  stood_still_before_ns_ = stub_->stood_still_ns();
  stub_.reset();
  text_ = std::move(*text);
  return {};
}

void LentStubEngine::attend() { (void)give_back_if_wanted(); }

void LentStubEngine::before_suspension() {
  is_wanted_ = stub_ != nullptr;
  (void)give_back_if_wanted();
}

// A read that stops the guest ends where a client waits.
Result<void> LentStubEngine::wait(const ReadStop& last, std::uint64_t from_ns) {
  if (turns_ != nullptr) {
    RINGSIDE_TRY(turns_->wait(last, from_ns));
  } else if (const std::uint64_t now = monotonic_ns(); now < from_ns) {
    sleep_ns(from_ns - now);
  }
  look_for_client();
  if (is_wanted_) return fail(ErrorCode::kDisturbed, "the gdb stub's user wants it back");
  return {};
}

// Ticks and attend() may come in the middle of one, by wait().
template <class Read>
auto LentStubEngine::reading(const Read& read) -> decltype(read()) {
  RINGSIDE_TRY(give_back_if_wanted());
  ++reads_;
  auto result = read();
  --reads_;
  if (result || !is_wanted_ || !stub_ || reads_ != 0) return result;
  RINGSIDE_TRY(give_back_if_wanted());
  return read();
}

Result<std::size_t> LentStubEngine::Physical::read_up_to(GuestPhys address,
                                                         std::span<std::byte> destination) {
  return engine_->reading([&]() -> Result<std::size_t> {
    RINGSIDE_ASSIGN(PhysicalMemory* const physical, engine_->way().physical_memory());
    return physical->read_up_to(address, destination);
  });
}

Result<PhysicalMemory*> LentStubEngine::physical_memory() {
  return reading([&]() -> Result<PhysicalMemory*> {
    RINGSIDE_TRY(way().physical_memory());
    return &physical_;
  });
}

Result<std::size_t> LentStubEngine::read_virtual(VcpuId vcpu, GuestVirt address,
                                                 std::span<std::byte> destination) {
  return reading([&] { return way().virtual_memory(vcpu).read_up_to(address, destination); });
}

Result<arch::Registers> LentStubEngine::read_registers(VcpuId vcpu) {
  return reading([&] { return way().read_registers(vcpu); });
}

Result<bool> LentStubEngine::guest_is_running() {
  RINGSIDE_TRY(give_back_if_wanted());
  return way().guest_is_running();
}

// A look before it would make it late.
Result<Tick> LentStubEngine::tick(const TickPlan& plan) {
  if (failure_) return tl::unexpected<Error>(*failure_);
  auto tick = way().tick(plan);
  if (const auto given = give_back_if_wanted(); tick && !given)
    return tl::unexpected<Error>(given.error());
  return tick;
}

MemoryPauses LentStubEngine::memory_pauses() const {
  MemoryPauses pauses = way().memory_pauses();
  pauses.count += pauses_before_.count;
  pauses.total_ns += pauses_before_.total_ns;
  pauses.longest_ns = std::max(pauses.longest_ns, pauses_before_.longest_ns);
  return pauses;
}

std::uint64_t LentStubEngine::stood_still_ns() const {
  return stood_still_before_ns_ + way().stood_still_ns();
}

std::vector<std::string> LentStubEngine::caveats() const {
  std::vector<std::string> caveats = way().caveats();
  if (!stub_)
    caveats.push_back(fmt::format(
        "the gdb stub was given back {:.1f} s after ringside had connected to it, because a client "
        "of it came, or ringside was suspended: samples from then on are by what QEMU's monitor "
        "prints",
        static_cast<double>(given_back_ns_ - began_ns_) / 1e9));
  return caveats;
}

}  // namespace ringside::engines::qmp
