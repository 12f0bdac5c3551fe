// Preloaded into ringside (LD_PRELOAD) by kill_test.py: it holds the sampling thread for ever at a
// point of its 20th stop of the guest. HOLD_IN_TICK names the point:
//   running      the guest runs again, and ringside sleeps until the next tick; after a later stop
//                where it does not sleep because it is late
//   stopped      the guest stands still, and the answers to the first write were read
//   half-packet  the same, and half of the next request was written
// It tells a stop by what goes out: `qC` to a gdb stub, or `stop` to a monitor.
#include <dlfcn.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kHeldStop = 20;
constexpr std::size_t kHalfOfARequest = 20;  // of a monitor's, bytes

const pid_t ringside = ::getpid();  // not the guardian, which is forked
thread_local int stops = 0;         // that this thread has asked for

std::string_view point() {
  const char* const name = std::getenv("HOLD_IN_TICK");
  return name != nullptr ? name : "";
}

bool is_held_stop() { return stops == kHeldStop && ::getpid() == ringside; }

bool is_stop(std::string_view bytes) {
  return bytes.starts_with("$qC#b4") || bytes.find("\"execute\":\"stop\"") != bytes.npos;
}

// Up to the first letter of the first packet, or into the first JSON object.
std::string_view half_of(std::string_view bytes) {
  const std::size_t packet = bytes.find('$');
  return bytes.substr(0, packet != bytes.npos ? packet + 2 : kHalfOfARequest);
}

[[noreturn]] void hold() {
  std::fprintf(stderr, "hold_in_tick: %s\n", std::getenv("HOLD_IN_TICK"));
  std::fflush(stderr);
  for (;;) ::pause();
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" ssize_t send(int socket, const void* data, std::size_t size, int flags) {
  static auto* const real = next<decltype(send)>("send");
  const std::string_view bytes(static_cast<const char*>(data), size);
  if (is_held_stop() && point() == "stopped") hold();
  if (is_held_stop() && point() == "half-packet") {
    const std::string_view half = half_of(bytes);
    (void)real(socket, half.data(), half.size(), flags);
    hold();
  }
  if (is_stop(bytes)) ++stops;
  return real(socket, data, size, flags);
}

extern "C" int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  static auto* const real = next<decltype(clock_nanosleep)>("clock_nanosleep");
  if (stops >= kHeldStop && ::getpid() == ringside && point() == "running") hold();
  return real(clock, flags, time, left);
}
