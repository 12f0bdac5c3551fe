#include "app/suspension.h"

#include <fmt/core.h>

#include <fstream>
#include <string>

#include "app/signals.h"

namespace ringside::app {
namespace {

volatile sig_atomic_t wanted_flag = 0;

// Does nothing where the signal is ignored. Safe in a signal handler.
void set_action(int signal, void (*handler)(int)) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

// A second one is for a ringside that is not ready in the user's time, as while it waits for
// whoever reads its output, who may be suspended already.
void on_suspend(int) {
  if (wanted_flag != 0) {
    set_action(SIGTSTP, SIG_DFL);
    ::raise(SIGTSTP);
  }
  wanted_flag = 1;
}

void on_continue(int) {
  wanted_flag = 0;
  set_action(SIGTSTP, on_suspend);
}

void defer() {
  set_action(SIGCONT, on_continue);
  set_action(SIGTSTP, on_suspend);
}

void stop_deferring() {
  set_action(SIGTSTP, SIG_DFL);
  set_action(SIGCONT, SIG_DFL);
}

// The signal's own action now. It is not deferred afterwards.
void suspend() {
  // One more that comes meanwhile is the same one: SIGCONT takes back those that are blocked.
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTSTP);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  stop_deferring();
  wanted_flag = 0;
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
}

}  // namespace

Suspension::Suspension() {
  wanted_flag = 0;
  defer();
}

Suspension::~Suspension() {
  stop_deferring();
  const bool ends = Signals::interrupted() || Signals::terminated();
  if (is_wanted() && !ends) suspend();
}

bool Suspension::is_wanted() { return wanted_flag != 0; }

void Suspension::now() {
  suspend();
  defer();
}

Suspension::AtOnce::AtOnce() {
  stop_deferring();
  if (is_wanted()) suspend();
}

Suspension::AtOnce::~AtOnce() { defer(); }

bool is_suspended(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // the state follows the command's name
  return name_end != std::string::npos && line.size() > name_end + 2 && line[name_end + 2] == 'T';
}

}  // namespace ringside::app
