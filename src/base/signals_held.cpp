#include "base/signals_held.h"

#include <signal.h>

#include <array>
#include <mutex>

namespace ringside {
namespace {

constexpr std::array kEnding{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

volatile sig_atomic_t waiting = 0;
std::mutex mutex;
int holders = 0;                               // guarded by the mutex
std::array<bool, kEnding.size()> was_taken{};  // guarded by the mutex

void keep(int number) { waiting = number; }

}  // namespace

SignalsHeld::SignalsHeld() {
  const std::lock_guard lock(mutex);
  if (holders++ != 0) return;
  struct sigaction action {};
  action.sa_handler = keep;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    struct sigaction before {};
    ::sigaction(kEnding[i], nullptr, &before);
    was_taken[i] = before.sa_handler == SIG_DFL;
    if (was_taken[i]) ::sigaction(kEnding[i], &action, nullptr);
  }
}

SignalsHeld::~SignalsHeld() {
  const std::lock_guard lock(mutex);
  if (--holders != 0) return;
  for (std::size_t i = 0; i < kEnding.size(); ++i)
    if (was_taken[i]) ::signal(kEnding[i], SIG_DFL);
  if (const int number = waiting; number != 0) {
    waiting = 0;
    ::raise(number);
  }
}

bool SignalsHeld::is_one_waiting() { return waiting != 0; }

}  // namespace ringside
