#include "plugin/tick_timer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ringside::plugin {
namespace {

// The first one that nobody in this process handles; 0 where there is none.
int find_free_signal() {
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
        now.sa_handler == SIG_DFL)
      return signal;
  }
  return 0;
}

int install(void (*handler)(int, siginfo_t*, void*)) {
  const int signal = find_free_signal();
  struct sigaction action {};
  action.sa_sigaction = handler;
  // A system call that a tick interrupts is begun again: QEMU does not notice.
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  return signal != 0 && ::sigaction(signal, &action, nullptr) == 0 ? signal : 0;
}

bool refuse(unsigned vcpu, const char* why) {
  std::fprintf(stderr, "ringside: vCPU %u is not sampled: no timer for it: %s\n", vcpu, why);
  return false;
}

}  // namespace

void TickTimer::handle(int, siginfo_t* info, void*) {
  if (info->si_code != SI_TIMER) return;
  const int before = errno;
  const auto* const timer = static_cast<const TickTimer*>(info->si_value.sival_ptr);
  timer->on_tick_(timer->self_, timer->vcpu_);
  errno = before;
}

bool TickTimer::begin(OnTick on_tick, void* self, unsigned vcpu) {
  on_tick_ = on_tick;
  self_ = self;
  vcpu_ = vcpu;
  static const int signal = install(handle);
  if (signal == 0) return refuse(vcpu, "all real-time signals are in use");
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = this;
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0)
    return refuse(vcpu, std::strerror(errno));
  sigset_t ours;
  ::sigemptyset(&ours);
  ::sigaddset(&ours, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
  return true;
}

void TickTimer::set(std::uint64_t due_ns) const {
  itimerspec when{};  // all zero would mean never
  due_ns = std::max<std::uint64_t>(due_ns, 1);
  when.it_value.tv_sec = static_cast<time_t>(due_ns / 1'000'000'000u);
  when.it_value.tv_nsec = static_cast<long>(due_ns % 1'000'000'000u);
  ::timer_settime(timer_, TIMER_ABSTIME, &when, nullptr);
}

}  // namespace ringside::plugin
