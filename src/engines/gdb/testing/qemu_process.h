#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"

namespace ringside::engines::gdb::testing {

// A real QEMU without a kernel: its BIOS runs, which is enough for a stub to answer. Killed by its
// process id when the object goes; every wait is bounded.
class QemuProcess {
 public:
  enum class Stub { kUnixSocket, kNone };
  // Null where `program` is not installed or does not start; `why` says so.
  [[nodiscard]] static std::unique_ptr<QemuProcess> start(
      const std::vector<std::string>& extra, std::string& why,
      const std::string& program = "qemu-system-x86_64", Stub stub = Stub::kUnixSocket);
  ~QemuProcess();
  QemuProcess(const QemuProcess&) = delete;
  QemuProcess& operator=(const QemuProcess&) = delete;

  // A new connection to its gdb stub, invalid if that fails.
  [[nodiscard]] UniqueFd connect_gdb() const;
  // Its gdb stub's address.
  [[nodiscard]] std::string gdb() const { return folder_ + "/gdb"; }
  // Sends a QMP command, a JSON object without an "id", and returns the line that answers it; empty
  // if none comes.
  std::string qmp(const std::string& command);
  // How long the guest stood still, each time since the last call: between the times that QEMU's
  // own STOP and RESUME events carry, in µs. Only stops that are over count.
  [[nodiscard]] std::vector<std::uint64_t> take_stops();
  // The text that a command of the human monitor prints.
  [[nodiscard]] std::string hmp(const std::string& command);
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Whether the guest is running, or comes to run within a second.
  [[nodiscard]] bool runs();
  // Whether it is paused, and still so after a tenth of a second.
  [[nodiscard]] bool stays_paused();
  void kill();
  // Its threads run on the first processor that the caller may use, and on no other.
  void stay_on_one_processor() const;
  // Stops all of its threads, as a host that is out of memory or processors might.
  void freeze() const;
  void thaw() const;

 private:
  explicit QemuProcess(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string read_line();

  std::string folder_;
  pid_t pid_ = -1;
  UniqueFd qmp_;
  std::string unread_;
  std::vector<std::string> events_;
  int commands_ = 0;
};

}  // namespace ringside::engines::gdb::testing
