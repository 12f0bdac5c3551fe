#pragma once

#include <compare>
#include <map>
#include <memory>
#include <string>

#include "engines/gdb/testing/qemu_process.h"

namespace ringside::engines::gdb::testing {

// Debian's kernel under QEMU's TCG with two vCPUs and a mixed workload, booted up to its ready
// line.
class LinuxGuest {
 public:
  struct Machine {
    std::string arch;            // Debian's name, as in script/fetch-linux-guest
    std::string cpu;             // QEMU's -cpu; empty: a usual one
    std::string kernel_options;  // more of them
    auto operator<=>(const Machine&) const = default;
  };
  // Null where script/fetch-linux-guest says that there is no network, with `failed` false; or
  // where fetching or booting fails, with `failed` true.
  [[nodiscard]] static std::unique_ptr<LinuxGuest> boot(const Machine& machine, bool& failed,
                                                        std::string& why);
  ~LinuxGuest();
  LinuxGuest(const LinuxGuest&) = delete;
  LinuxGuest& operator=(const LinuxGuest&) = delete;

  [[nodiscard]] QemuProcess& qemu() { return *qemu_; }

 private:
  explicit LinuxGuest(std::string serial) : serial_(std::move(serial)) {}
  [[nodiscard]] bool wait_until_ready() const;

  std::string serial_;  // a file
  std::unique_ptr<QemuProcess> qemu_;
};

}  // namespace ringside::engines::gdb::testing
