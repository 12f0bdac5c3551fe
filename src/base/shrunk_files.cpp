#include "base/shrunk_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

namespace ringside {
namespace {

// Each image and each debug file of a recording is one at most.
constexpr std::size_t kMostRanges = 2048;

struct Range {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> shrunk{false};
  std::atomic<int> protection{PROT_READ};
  std::string name;  // the signal handler does not look at it
};

std::array<Range, kMostRanges> the_ranges;  // for the signal handler, which takes no locks
std::mutex the_mutex;                       // of what follows, and of names
std::vector<std::string> the_shrunk;        // that are mapped no longer

Range* range_of(std::uintptr_t address) {
  for (Range& range : the_ranges)
    if (address >= range.begin.load() && address < range.end.load()) return &range;
  return nullptr;
}

// Only what a signal handler may do: the mapping of zeros is a system call.
void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Range* const range = info->si_code == BUS_ADRERR ? range_of(address) : nullptr;
  if (range != nullptr) {
    range->shrunk = true;
    void* const begin = reinterpret_cast<void*>(address & ~(page - 1));
    if (::mmap(begin, page, range->protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        begin)
      return;
  }
  std::signal(signal, SIG_DFL);  // the access is repeated, and ends the process
}

bool handle_bus_errors() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, nullptr) == 0;
}

}  // namespace

bool watch_mapping(const void* begin, std::size_t size, const std::string& name, MappedFor use) {
  static const bool handled = handle_bus_errors();
  if (!handled) return false;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::lock_guard lock(the_mutex);
  for (Range& range : the_ranges) {
    if (range.begin != 0) continue;
    range.name = name;
    range.shrunk = false;
    range.protection = use == MappedFor::kWriting ? PROT_READ | PROT_WRITE : PROT_READ;
    range.begin = first;
    range.end = first + size;
    return true;
  }
  return false;
}

void forget_mapping(const void* begin) {
  const std::lock_guard lock(the_mutex);
  for (Range& range : the_ranges) {
    if (range.begin != reinterpret_cast<std::uintptr_t>(begin)) continue;
    range.end = 0;
    range.begin = 0;
    if (range.shrunk) the_shrunk.push_back(std::move(range.name));
    return;
  }
}

std::vector<std::string> take_shrunk_files() {
  const std::lock_guard lock(the_mutex);
  std::vector<std::string> names = std::exchange(the_shrunk, {});
  for (Range& range : the_ranges)
    if (range.begin != 0 && range.shrunk.exchange(false)) names.push_back(range.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace ringside
