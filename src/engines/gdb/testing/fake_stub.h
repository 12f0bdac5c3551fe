#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fd.h"

namespace ringside::engines::gdb::testing {

// A gdb stub in a thread, with the habits of QEMU 7.2 that the engine relies on: it stops the guest
// on connect, at any byte, and at the user's wish; it acknowledges, and takes requests in bursts.
class FakeStub {
 public:
  struct Vcpu {
    std::uint64_t rip = 0xffffffff81000000;
    std::uint64_t rsp = 0xffffc90000001000;
    bool user = false;
    bool firmware = false;
    bool halted = false;
  };
  // A real stub's answers: they replace the fake's own registers, the same for each vCPU.
  struct Recording {
    std::map<std::string, std::string> annexes;  // by name, with target.xml
    std::string g;
    std::map<std::string, std::string> p;  // by the register's number, hexadecimal
    // Reads a folder that holds the annexes, `g`, and `p` (a number and an answer a line).
    [[nodiscard]] static Recording read(const std::string& folder);
  };
  struct Settings {
    bool running = true;        // when the engine connects
    bool qemu = true;           // has a monitor and describes its registers
    bool binary_reads = false;  // knows `x`
    std::string version = "7.2.22 (fake)";
    bool silent_stops = false;  // as QEMU from 8.1 on: a stop is reported after \x03 or `c` only
    std::string status = "paused";
    std::vector<Vcpu> vcpus{2};
    std::map<std::uint64_t, std::string> pages;           // 4 KiB each, by address
    std::map<std::uint64_t, std::string> physical_pages;  // the same, in physical mode
    std::map<std::string, std::string> monitor;           // what commands print
    // Misbehaviour, from the n-th request after the first `c` on; -1: never.
    int die_at = -1;
    int corrupt_at = -1;
    int ignore_at = -1;
    int hang_after = -1;  // so many requests since the connection: it hangs until hang(false)
    // Up to the n-th stop after the first `c`, user code runs and addresses with the top bit set
    // are not mapped.
    int hides_kernel_for = -1;
    std::optional<Recording> recording;
    std::chrono::microseconds memory_delay{0};  // before each answer to a read of memory
    bool forgets_vcpu = false;  // each stop of the guest chooses vCPU 0, as QEMU 7.2 does at times
  };

  explicit FakeStub(Settings settings);
  ~FakeStub();
  FakeStub(const FakeStub&) = delete;
  FakeStub& operator=(const FakeStub&) = delete;

  [[nodiscard]] UniqueFd take_client() { return std::move(client_); }
  void user_stops();
  void user_resumes();
  // The user resumes the guest once a request that begins so was answered.
  void user_resumes_after(std::string request);
  // From now on a command of the monitor's prints that. `cont` that prints something is refused.
  void prints(const std::string& command, std::string text);
  void exits();  // sends W00 and closes
  // While it hangs it handles nothing, and reads 4 KiB at most.
  void hang(bool on) { hangs_ = on; }
  [[nodiscard]] bool running();
  // Whether the guest ever ran, or the connection ended, in physical mode: it must not.
  [[nodiscard]] bool left_in_physical_mode();
  // All requests that were handled, in order.
  [[nodiscard]] std::vector<std::string> requests();
  void forget_requests();

 private:
  void serve();
  void take_byte(char byte);
  void handle(const std::string& request);
  [[nodiscard]] std::string answer(const std::string& request);
  [[nodiscard]] std::string annex(std::string_view request) const;
  [[nodiscard]] std::string registers_of(const Vcpu& vcpu) const;
  [[nodiscard]] std::string read_memory(std::string_view range, bool binary) const;
  void send_packet(std::string_view body);
  void send_bytes(std::string_view bytes);

  Settings settings_;
  UniqueFd client_;
  UniqueFd server_;
  std::atomic<bool> hangs_ = false;
  std::mutex mutex_;
  bool running_ = false;
  bool physical_ = false;
  int stops_ = 0;  // after the first `c`
  bool left_in_physical_mode_ = false;
  bool reports_stop_ = false;        // with silent_stops: the last that came was `c`
  bool waiting_for_dollar_ = false;  // the last packet is still unacknowledged
  bool in_packet_ = false;
  std::string line_;
  std::size_t selected_ = 0;
  int handled_ = -1;  // since the first `c`
  std::vector<std::string> requests_;
  std::string resumes_after_;  // empty: never
  std::thread thread_;
};

}  // namespace ringside::engines::gdb::testing
