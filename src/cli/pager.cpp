#include "cli/pager.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pipe.h"
#include "launch/path_search.h"

namespace ringside::cli {
namespace {

constexpr const char* kUsualPager = "less";
constexpr int kCannotRun = 126;  // the shell's exit status; 127 where there is no such program

bool is_less(std::string_view pager) {
  const std::string_view program = pager.substr(0, pager.find(' '));
  return program == kUsualPager || program.ends_with("/less");
}

// git's choice: leave at once what fits the screen (F), colours (R), no clearing of the screen (X).
std::vector<std::string> pager_environment() {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) variables.emplace_back(*at);
  if (std::getenv("LESS") == nullptr) variables.emplace_back("LESS=FRX");
  if (std::getenv("LV") == nullptr) variables.emplace_back("LV=-c");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::string wanted_pager() {
  const char* const terminal = std::getenv("TERM");
  if (terminal == nullptr || terminal == std::string_view("dumb")) return {};
  const char* named = std::getenv("RINGSIDE_PAGER");
  if (named == nullptr) named = std::getenv("PAGER");
  if (named != nullptr) {
    const bool is_none = named == std::string_view("cat") ||
                         std::string_view(named).find_first_not_of(" \t") == std::string_view::npos;
    return is_none ? std::string() : named;
  }
  const char* const path = std::getenv("PATH");
  const bool has_less =
      launch::find_in_path(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", kUsualPager,
                           X_OK)
          .has_value();
  return has_less ? kUsualPager : "";
}

bool pager_shows_colours(const std::string& pager) {
  const char* const options = std::getenv("LESS");
  return !is_less(pager) || options == nullptr ||
         std::string_view(options).find_first_of("rR") != std::string_view::npos ||
         pager.find(" -R") != pager.npos;
}

Result<Pager> Pager::start(const std::string& command) {
  RINGSIDE_ASSIGN(Pipe pipe, make_pipe());
  const UniqueFd from_us = std::move(pipe.reader);
  Pager pager;
  pager.input_ = std::move(pipe.writer);
  pager.ignore_signals();

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, from_us.get(), STDIN_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // The pager would inherit the signals that we ignore; those ignored before (nohup) stay ignored.
  sigset_t defaults;
  sigemptyset(&defaults);
  for (std::size_t i = 0; i < kIgnored.size(); ++i)
    if (pager.before_[i].sa_handler != SIG_IGN) sigaddset(&defaults, kIgnored[i]);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> words = {"sh", "-c", command};
  std::vector<std::string> variables = pager_environment();
  const int error = ::posix_spawn(&pager.pid_, "/bin/sh", &actions, &attributes,
                                  pointers(words).data(), pointers(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    for (std::size_t i = 0; i < kIgnored.size(); ++i)
      ::sigaction(kIgnored[i], &pager.before_[i], nullptr);
    pager.pid_ = 0;
    return fail_errno("cannot start /bin/sh", error);
  }
  return pager;
}

Pager::Pager(Pager&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), input_(std::move(other.input_)), before_(other.before_) {}

void Pager::ignore_signals() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  for (std::size_t i = 0; i < kIgnored.size(); ++i) ::sigaction(kIgnored[i], &ignore, &before_[i]);
}

bool Pager::wait() {
  if (pid_ == 0) return true;
  input_.reset();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  for (std::size_t i = 0; i < kIgnored.size(); ++i) ::sigaction(kIgnored[i], &before_[i], nullptr);
  return !WIFEXITED(status) ||
         (WEXITSTATUS(status) != kCannotRun && WEXITSTATUS(status) != kCannotRun + 1);
}

}  // namespace ringside::cli
