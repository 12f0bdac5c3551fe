#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/socket.h"
#include "base/types.h"
#include "engines/migration_watch.h"
#include "engines/patience.h"

namespace ringside::engines::qmp {

// Requests that go out in one write.
class Requests {
 public:
  void add(std::string_view command);
  // A command of the human monitor, as a vCPU sees the machine.
  void add_human(std::string_view line, std::optional<VcpuId> vcpu = std::nullopt);
  void append(const Requests& more) {
    bodies_.insert(bodies_.end(), more.bodies_.begin(), more.bodies_.end());
  }
  [[nodiscard]] std::size_t size() const { return bodies_.size(); }
  [[nodiscard]] bool empty() const { return bodies_.empty(); }

 private:
  friend class Monitor;
  std::vector<std::string> bodies_;  // JSON objects without their end
};

// The text that answers a command of the human monitor; empty for an answer of another kind.
[[nodiscard]] std::string text_of(const nlohmann::json& answer);

// A QEMU's monitor, by its machine protocol (QEMU's docs/interop/qmp-spec: one JSON object a line).
// One thread uses it, and each monitor serves one client at a time.
//
// Where QEMU can (capability "oob") a thread of its own reads the requests, while others are
// carried out: a stop with `info registers` and a continue then takes 0.2 ms instead of 0.6 ms.
class Monitor {
 public:
  // Connects, waits for the greeting and leaves negotiation mode. `patience` is for this and for
  // each answer. Errors: kNotFound where nothing listens, kTimeout where no greeting comes
  // (another client has the monitor), kProtocol for what is not QMP, kDisturbed where the patience
  // is over: from then on for each answer that is not there at once; kClosed where QEMU has begun
  // to end (a SHUTDOWN event) and does not answer for two seconds.
  [[nodiscard]] static Result<Monitor> connect(const SocketAddress& address, Patience patience);
  // The same with a stream socket that is connected already; `name` is for messages.
  [[nodiscard]] static Result<Monitor> attach(UniqueFd socket, std::string name, Patience patience);
  // For what is to be done at the end, when the patience may be over.
  void set_patience(Patience patience) { patience_ = std::move(patience); }

  // Runs a command and returns what its answer holds under "return"; events that come meanwhile
  // are passed over. kUnsupported, with QEMU's own text, where QEMU refuses.
  [[nodiscard]] Result<nlohmann::json> execute(std::string_view command,
                                               const nlohmann::json& arguments);
  // Returns the text that a command of the human monitor prints; its failures are text, too.
  [[nodiscard]] Result<std::string> human(const std::string& line);

  // When the answer number `of` came, and whether QEMU had let the guest run since the one before
  // it (a RESUME event in between).
  struct Moment {
    std::size_t of = 0;
    std::uint64_t answered_ns = 0;
    bool resumed_before = false;
  };
  // Runs all of them and returns what their answers hold under "return", in order. If one is
  // refused: kUnsupported, and the others have run.
  [[nodiscard]] Result<std::vector<nlohmann::json>> exchange(const Requests& requests,
                                                             Moment* moment = nullptr);
  // Lets the guest run, whatever was sent before; through a new connection where this one was
  // closed. False if QEMU has not answered within 1 s, nor is ending: closing the connection then
  // may leave the guest standing.
  [[nodiscard]] bool let_run();

  // The run state: "running", "paused", "prelaunch", "internal-error" ….
  [[nodiscard]] Result<std::string> status();
  // The same, and whether the guest is being migrated, in one round trip.
  [[nodiscard]] Result<Migration> migration();
  // Patience::over(): nothing is to be waited for any more.
  [[nodiscard]] bool is_over() const { return patience_.over(); }

  // Whether the guest runs, by the last status() and QEMU's events since, as far as they were read.
  [[nodiscard]] bool guest_runs() const { return guest_runs_; }

  // How often QEMU has let the guest run, by the events that were read, and how long the guest
  // stood still before the last time: between the times that QEMU's STOP and RESUME events carry.
  // 0 where no STOP was read.
  [[nodiscard]] std::uint64_t resumes() const { return resumes_; }
  [[nodiscard]] std::uint64_t last_stop_ns() const { return last_stop_ns_; }
  // The same, of all times together.
  [[nodiscard]] std::uint64_t stopped_ns() const { return stopped_ns_; }
  // Reads the events that have come. QEMU keeps what nobody reads, without a limit. A failure here
  // recurs at the next command.
  void take_events();

  struct CharacterDevice {
    std::string label;
    std::string filename;  // such as "disconnected:unix:/tmp/gdb,server=on"
  };
  [[nodiscard]] Result<std::vector<CharacterDevice>> character_devices();

  // The process at the other end, 0 where that cannot be determined (peer_process.h). For a Unix
  // socket it may be one that passed the socket on to QEMU (libvirtd).
  [[nodiscard]] pid_t peer() const;
  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  // "7.2.22", from the greeting.
  [[nodiscard]] const std::string& qemu_version() const { return version_; }

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  Monitor(UniqueFd socket, std::string name, Patience patience)
      : socket_(std::move(socket)), name_(std::move(name)), patience_(std::move(patience)) {}
  [[nodiscard]] Deadline deadline() const {
    return std::chrono::steady_clock::now() + patience_.timeout;
  }
  [[nodiscard]] Result<void> negotiate();
  [[nodiscard]] Result<nlohmann::json> read_greeting();
  [[nodiscard]] Result<void> send(std::string_view text, Deadline deadline);
  [[nodiscard]] Result<std::string> read_line(Deadline deadline);
  [[nodiscard]] Result<nlohmann::json> read_message(Deadline deadline);
  [[nodiscard]] Result<nlohmann::json> read_answer(std::uint64_t id, Deadline deadline);
  [[nodiscard]] Result<nlohmann::json> parse_message(const std::string& line);
  void note_event(std::string_view event, std::uint64_t time_ns);
  [[nodiscard]] bool continue_guest();
  [[nodiscard]] tl::unexpected<Error> fail_closed();
  [[nodiscard]] Result<void> go_on(Deadline deadline) const;
  [[nodiscard]] Result<void> wait_for(short events, Deadline deadline) const;

  UniqueFd socket_;
  std::string name_;
  Patience patience_;
  std::optional<SocketAddress> address_;  // where it was connected by one
  bool is_closed_ = false;                // by the other end
  bool is_ending_ = false;                // SHUTDOWN came, and no RESUME since
  std::string unread_;
  std::string version_;
  std::uint64_t last_id_ = 0;
  bool guest_runs_ = false;
  std::uint64_t resumes_ = 0;        // RESUME events so far
  std::uint64_t stop_began_ns_ = 0;  // of QEMU's clock of real time; 0: no STOP since the RESUME
  std::uint64_t last_stop_ns_ = 0;
  std::uint64_t stopped_ns_ = 0;
};

}  // namespace ringside::engines::qmp
