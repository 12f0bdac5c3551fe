#include "engines/gdb/testing/linux_guest.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/testing/time_limits.h"

namespace ringside::engines::gdb::testing {
namespace {

constexpr int kNoNetwork = 3;
// A guest boots in some seconds on an idle machine.
const int kReadyWithinMs = 10 * static_cast<int>(ringside::testing::longest_step().count());

// VMLINUZ, INITRD, QEMU … as the script prints them, and its exit status.
std::map<std::string, std::string> fetch(const std::string& arch, int& status) {
  const std::string command = RINGSIDE_SCRIPTS "/fetch-linux-guest --arch " + arch;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::map<std::string, std::string> paths;
  char line[4096];
  while (pipe != nullptr && std::fgets(line, sizeof(line), pipe) != nullptr) {
    const std::string text(line);
    const std::size_t equals = text.find('=');
    if (equals != text.npos)
      paths[text.substr(0, equals)] = text.substr(equals + 1, text.find('\n') - equals - 1);
  }
  const int ended = pipe == nullptr ? -1 : ::pclose(pipe);
  status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  return paths;
}

std::vector<std::string> options_of(const LinuxGuest::Machine& machine) {
  std::string cpu = machine.cpu;
  if (cpu.empty() && machine.arch == "arm64") cpu = "cortex-a57";
  const bool is_pc = machine.arch == "amd64" || machine.arch == "i386";
  std::vector<std::string> options{"-M", is_pc ? "pc" : "virt"};
  if (!cpu.empty()) options.insert(options.end(), {"-cpu", cpu});
  return options;
}

}  // namespace

std::unique_ptr<LinuxGuest> LinuxGuest::boot(const Machine& machine, bool& failed,
                                             std::string& why) {
  int status = 0;
  const auto paths = fetch(machine.arch, status);
  failed = status != kNoNetwork;
  if (status != 0) {
    why = failed ? "script/fetch-linux-guest failed" : "no network to fetch the Linux guest";
    return nullptr;
  }
  static int guests = 0;
  const std::string serial = ::testing::TempDir() + "ringside-serial-" +
                             std::to_string(::getpid()) + "-" + std::to_string(guests++);
  std::unique_ptr<LinuxGuest> guest(new LinuxGuest(serial));
  std::vector<std::string> options = options_of(machine);
  const std::string console = machine.arch == "arm64" ? "ttyAMA0" : "ttyS0";
  options.insert(options.end(),
                 {"-m", "512", "-no-reboot", "-serial", "file:" + serial, "-kernel",
                  paths.at("VMLINUZ"), "-initrd", paths.at("INITRD"), "-append",
                  "console=" + console + " quiet workload=mixed " + machine.kernel_options});
  guest->qemu_ = QemuProcess::start(options, why, paths.at("QEMU"));
  if (!guest->qemu_) return nullptr;
  if (guest->wait_until_ready()) return guest;
  why = "the guest did not say in time that it is ready";
  return nullptr;
}

LinuxGuest::~LinuxGuest() {
  qemu_.reset();
  std::error_code ignored;
  std::filesystem::remove(serial_, ignored);
}

bool LinuxGuest::wait_until_ready() const {
  for (int waited = 0; waited < kReadyWithinMs; waited += 100) {
    std::ifstream file(serial_);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (text.find("ringside-guest: ready workload=mixed") != text.npos) return true;
    ::usleep(100'000);
  }
  return false;
}

}  // namespace ringside::engines::gdb::testing
