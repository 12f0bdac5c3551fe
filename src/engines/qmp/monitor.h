#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/socket.h"

namespace ringside::engines::qmp {

// A QEMU's monitor, by its machine protocol (QEMU's docs/interop/qmp-spec: one JSON object a line).
// One thread uses it, and each monitor serves one client at a time.
class Monitor {
 public:
  // Connects, waits for the greeting and leaves negotiation mode. `timeout` is for this and for
  // each answer. Errors: kNotFound where nothing listens, kTimeout where no greeting comes
  // (another client has the monitor), kProtocol for what is not QMP.
  [[nodiscard]] static Result<Monitor> connect(const SocketAddress& address,
                                               std::chrono::milliseconds timeout);
  // The same with a stream socket that is connected already; `name` is for messages.
  [[nodiscard]] static Result<Monitor> attach(UniqueFd socket, std::string name,
                                              std::chrono::milliseconds timeout);

  // Runs a command and returns what its answer holds under "return"; events that come meanwhile
  // are passed over. kUnsupported, with QEMU's own text, where QEMU refuses.
  [[nodiscard]] Result<nlohmann::json> execute(std::string_view command,
                                               const nlohmann::json& arguments);
  // What a command of the human monitor prints; its failures are text, too.
  [[nodiscard]] Result<std::string> human(const std::string& line);

  // The run state: "running", "paused", "prelaunch", "internal-error" ….
  [[nodiscard]] Result<std::string> status();

  // Drops the events that have come. QEMU keeps what nobody reads, without a limit.
  void discard_events();

  struct CharacterDevice {
    std::string label;
    std::string filename;  // such as "disconnected:unix:/tmp/gdb,server=on"
  };
  [[nodiscard]] Result<std::vector<CharacterDevice>> character_devices();

  // The process at the other end of a Unix socket; 0 for TCP. It may be one that passed the socket
  // on to QEMU (libvirtd).
  [[nodiscard]] pid_t peer() const;
  // "7.2.22", from the greeting.
  [[nodiscard]] const std::string& qemu_version() const { return version_; }

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  Monitor(UniqueFd socket, std::string name, std::chrono::milliseconds timeout)
      : socket_(std::move(socket)), name_(std::move(name)), timeout_(timeout) {}
  [[nodiscard]] Result<void> negotiate();
  [[nodiscard]] Result<void> send(std::string_view text, Deadline deadline);
  [[nodiscard]] Result<std::string> read_line(Deadline deadline);
  [[nodiscard]] Result<nlohmann::json> read_message(Deadline deadline);
  [[nodiscard]] Result<void> wait_for(short events, Deadline deadline) const;

  UniqueFd socket_;
  std::string name_;
  std::chrono::milliseconds timeout_;
  std::string unread_;
  std::string version_;
  std::uint64_t last_id_ = 0;
};

}  // namespace ringside::engines::qmp
