#include "cli/signals.h"

#include <signal.h>

#include <initializer_list>

namespace ringside::cli {
namespace {

volatile sig_atomic_t interrupted_flag = 0;
volatile sig_atomic_t terminated_flag = 0;

void on_signal(int number) {
  if (number == SIGINT)
    interrupted_flag = 1;
  else
    terminated_flag = 1;
}

// What is ignored already (nohup) stays ignored.
void set_all(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
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
  set_all(on_signal);
  ::signal(SIGPIPE, SIG_IGN);
}

Signals::~Signals() { set_all(SIG_DFL); }

bool Signals::interrupted() { return interrupted_flag != 0; }
bool Signals::terminated() { return terminated_flag != 0; }

}  // namespace ringside::cli
