#include "plugin/own_thread.h"

#include <signal.h>

#include <cstdio>
#include <system_error>
#include <thread>

namespace ringside::plugin {

bool start_own_thread(void (*body)(void* self), void* self) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = true;
  try {
    std::thread(body, self).detach();
  } catch (const std::system_error& error) {
    is_started = false;
    std::fprintf(stderr, "ringside: nothing is sampled: no thread: %s\n", error.what());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

}  // namespace ringside::plugin
