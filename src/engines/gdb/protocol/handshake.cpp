#include "engines/gdb/protocol/handshake.h"

#include <charconv>

#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/protocol/packet.h"
#include "engines/migration_watch.h"

namespace ringside::engines::gdb {
namespace {

class Handshake {
 public:
  Handshake(Connection& connection, const Patience& patience)
      : connection_(connection), patience_(patience), end_(Clock::now() + patience.timeout) {}

  // The answer to one request; stop replies in front of it are noted.
  Result<std::string> request(std::string_view payload) {
    std::string bytes;
    append_packet(bytes, payload);
    RINGSIDE_TRY(connection_.send(bytes, end_));
    for (;;) {
      RINGSIDE_ASSIGN(std::string reply, connection_.receive(end_, patience_.is_over));
      heard_ = true;
      if (is_exit_reply(reply))
        return fail(ErrorCode::kClosed, "the guest has ended already (the gdb stub says '{}')",
                    excerpt_of(reply));
      if (!is_stop_reply(reply)) return reply;
      saw_stop_reply_ = true;
    }
  }

  // Whether anything came that a stub may say.
  [[nodiscard]] bool heard_a_packet() const { return heard_; }

  // The text that a monitor command prints, empty where the stub has no monitor.
  Result<std::string> monitor(std::string_view command) {
    std::string text;
    auto reply = request(monitor_request(command));
    while (reply && reply->size() > 1 && reply->front() == 'O' && *reply != "OK") {
      text += decode_hex_text(std::string_view(*reply).substr(1));
      reply = connection_.receive(end_, patience_.is_over);
      if (reply && Clock::now() >= end_)
        return fail(ErrorCode::kTimeout, "gdb stub: what its monitor prints does not end");
    }
    if (!reply) return reply;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
  }

  [[nodiscard]] bool saw_stop_reply() const { return saw_stop_reply_; }

 private:
  Connection& connection_;
  const Patience& patience_;
  Clock::time_point end_;
  bool saw_stop_reply_ = false;
  bool heard_ = false;
};

void read_supported(std::string_view reply, StubTraits& traits, bool& no_ack, bool& describes) {
  while (!reply.empty()) {
    const std::size_t end = reply.find(';');
    const std::string_view feature = reply.substr(0, end);
    if (feature.starts_with("PacketSize=")) {
      if (const auto size = parse_hex_number(feature.substr(11)); size && *size >= 64)
        traits.packet_size = std::min<std::size_t>(*size, kMaxBody);
    }
    no_ack |= feature == "QStartNoAckMode+";
    describes |= feature == "qXfer:features:read+";
    traits.multiprocess |= feature == "multiprocess+";
    reply.remove_prefix(end == reply.npos ? reply.size() : end + 1);
  }
}

constexpr std::string_view kStatus = "VM status: ";

Result<bool> was_running(const Greeting& greeting, Handshake& handshake, std::string_view status,
                         const DidRun& did_run) {
  if (handshake.saw_stop_reply() || !greeting.traits.qemu) return true;
  if (run_state_in(status) != "paused") return run_state_in(status) == "running";
  if (!greeting.traits.silent_stops) return false;
  if (!did_run) return true;
  RINGSIDE_ASSIGN(const std::string cpus, handshake.monitor("info cpus"));
  return did_run(cpus).value_or(true);
}

}  // namespace

bool version_at_least(std::string_view version, unsigned major, unsigned minor) {
  unsigned numbers[2] = {0, 0};
  const char* at = version.data();
  const char* const end = version.data() + version.size();
  for (unsigned& number : numbers) {
    const auto parsed = std::from_chars(at, end, number);
    if (parsed.ec != std::errc{}) return false;
    at = parsed.ptr == end ? end : parsed.ptr + 1;
  }
  return numbers[0] != major ? numbers[0] > major : numbers[1] >= minor;
}

Result<Greeting> shake_hands(Connection& connection, Guardian* guardian,
                             std::optional<bool> known_running, const DidRun& did_run,
                             const Patience& patience) {
  Greeting greeting;
  StubTraits& traits = greeting.traits;
  Handshake handshake(connection, patience);
  const auto supported = handshake.request("qSupported:multiprocess+;xmlRegisters=i386");
  if (!supported) {
    const bool is_silent = supported.error().code == ErrorCode::kTimeout;
    // A peer that is no stub has no guest to let run. One that has not answered yet may be a stub.
    const bool is_no_stub =
        supported.error().code == ErrorCode::kProtocol && !handshake.heard_a_packet();
    if (guardian != nullptr && is_no_stub) guardian->set_state(GuestState::kPaused);
    // Nobody else will hear it.
    if (guardian != nullptr && known_running.value_or(handshake.saw_stop_reply()))
      guardian->set_state(GuestState::kOurs);
    if (!is_silent || handshake.heard_a_packet()) return tl::unexpected<Error>(supported.error());
    return fail(ErrorCode::kTimeout,
                "no gdb stub answers at this address: {}; is QEMU stopped, or another debugger "
                "attached to it?{}",
                supported.error().message,
                guardian == nullptr
                    ? ""
                    : fmt::format(" The process ringside-guard ({}) waits for the answer, to let "
                                  "the guest run then",
                                  guardian->pid()));
  }
  if (guardian != nullptr && known_running.value_or(handshake.saw_stop_reply()))
    guardian->set_state(GuestState::kOurs);
  bool no_ack = false;
  read_supported(*supported, traits, no_ack, greeting.describes_registers);
  if (no_ack) {
    const auto reply = handshake.request("QStartNoAckMode");
    if (!reply) return tl::unexpected<Error>(reply.error());
    traits.acknowledges = *reply != "OK";
    connection.set_acknowledging(traits.acknowledges);
  }
  RINGSIDE_ASSIGN(const std::string status, handshake.monitor("info status"));
  traits.qemu = status.starts_with(kStatus);
  traits.pipelines = traits.qemu;
  if (traits.qemu) {
    RINGSIDE_ASSIGN(const std::string version, handshake.monitor("info version"));
    // "7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)": the distribution's own is left out.
    greeting.qemu_version = version.substr(0, version.find_first_not_of("0123456789."));
    traits.silent_stops = version_at_least(greeting.qemu_version, 8, 1);
  }
  if (known_running) {
    // Ours is "paused", if it has stopped yet; others, such as "inmigrate", are not.
    const std::string_view state = run_state_in(status);
    const bool may_be_ours = !traits.qemu || state == "paused" || state == "running";
    greeting.guest_was_running = *known_running && may_be_ours;
  } else {
    RINGSIDE_ASSIGN(greeting.guest_was_running, was_running(greeting, handshake, status, did_run));
  }
  if (guardian != nullptr) {
    guardian->set_state(greeting.guest_was_running ? GuestState::kOurs : GuestState::kPaused);
    if (!traits.multiprocess) guardian->set_detach_text("+\x03#00$D#44");
  }
  return greeting;
}

}  // namespace ringside::engines::gdb
