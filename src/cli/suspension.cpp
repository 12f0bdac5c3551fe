#include "cli/suspension.h"

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace ringside::cli {
namespace {

volatile sig_atomic_t wanted_flag = 0;

void on_signal(int) { wanted_flag = 1; }

void set_action(void (*handler)(int)) {
  struct sigaction action {};
  ::sigaction(SIGTSTP, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTSTP, &action, nullptr);
}

}  // namespace

Suspension::Suspension() {
  wanted_flag = 0;
  set_action(on_signal);
}

Suspension::~Suspension() {
  set_action(SIG_DFL);
  if (is_wanted()) ::raise(SIGTSTP);
}

bool Suspension::is_wanted() { return wanted_flag != 0; }

void Suspension::now() {
  wanted_flag = 0;
  set_action(SIG_DFL);
  ::raise(SIGTSTP);
  set_action(on_signal);
}

bool is_suspended(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // the state follows the command's name
  return name_end != std::string::npos && line.size() > name_end + 2 && line[name_end + 2] == 'T';
}

}  // namespace ringside::cli
