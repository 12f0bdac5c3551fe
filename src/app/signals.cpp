#include "app/signals.h"

#include <signal.h>

#include <initializer_list>

namespace ringside::app {
namespace {

volatile sig_atomic_t interrupted_flag = 0;
volatile sig_atomic_t terminated_flag = 0;

// A terminal's Ctrl-C goes to QEMU, too, where that is ours. A supervisor's signal is for us alone,
// and so is a second Ctrl-C: QEMU may be suspended.
void on_signal(int number, siginfo_t* info, void*) {
  const bool is_from_terminal = info->si_code == SI_KERNEL;
  if (number != SIGINT || !is_from_terminal || interrupted_flag != 0) terminated_flag = 1;
  if (number == SIGINT) interrupted_flag = 1;
}

// A signal that is ignored already (nohup) stays ignored.
void set_all(bool handled) {
  struct sigaction action {};
  action.sa_flags = SA_RESTART | (handled ? SA_SIGINFO : 0);
  if (handled)
    action.sa_sigaction = on_signal;
  else
    action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
}

}  // namespace

Signals::Signals() {
  interrupted_flag = 0;
  terminated_flag = 0;
  set_all(true);
  ::signal(SIGPIPE, SIG_IGN);
}

Signals::~Signals() { set_all(false); }

bool Signals::interrupted() { return interrupted_flag != 0; }
bool Signals::terminated() { return terminated_flag != 0; }

}  // namespace ringside::app
