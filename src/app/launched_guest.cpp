#include "app/launched_guest.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "app/messages.h"
#include "app/signals.h"
#include "base/clock.h"
#include "launch/plugin/plugin_files.h"
#include "launch/plugin/plugin_refusal.h"
#include "launch/qemu/qemu_command.h"
#include "launch/qemu/qemu_shim.h"
#include "launch/qemu/unshimmed_qemu.h"

namespace ringside::app {
namespace {

constexpr int kQuitWaitMs = 5000;

// After 40 tries, which are 0.2 s, and then half as often each time: a poll reads all of /proc.
constexpr unsigned kFirstPoll = 40;
constexpr unsigned kLongestPollGap = 400;

std::string words_of(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

Result<launch::ChildProcess> start(const std::vector<std::string>& command,
                                   const std::filesystem::path& command_folder,
                                   const launch::LaunchRequest& request,
                                   const std::filesystem::path& self,
                                   const std::filesystem::path& folder) {
  RINGSIDE_TRY(request.write(folder));
  const char* variable = std::getenv("PATH");
  const std::string path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  RINGSIDE_TRY(launch::write_shims(folder, self, path));
  std::vector<std::string> words = command;
  // A QEMU given by its path would not be looked up in PATH.
  if (launch::is_qemu_program(command[0]) && command[0].find('/') != std::string::npos)
    words.insert(words.begin(), {self.string(), launch::kShimOption, folder.string()});
  return launch::ChildProcess::start(words, launch::path_with_shims(folder, path), command_folder);
}

// Sets `error` for requests that only a QEMU started with options of ringside's can meet.
std::optional<launch::LaunchInfo> with_wishes(std::optional<launch::LaunchInfo> info,
                                              const launch::LaunchRequest& request) {
  if (!info || !info->error.empty()) return info;
  if (request.deterministic || request.taps_serial)
    info->error = info->choice.why + "; --deterministic, --after and --until need such options";
  else if (request.engine == launch::EngineKind::kRing)
    info->choice.engine = request.engine;  // the stub or the monitor that was found will do
  else if (request.engine != launch::EngineKind::kAuto && request.engine != info->choice.engine)
    info->error =
        fmt::format("{}; --engine {} needs such options: leave it out to use {}", info->choice.why,
                    name_of(request.engine), name_of(info->choice.engine));
  return info;
}

// Ctrl-C is for the command, too, which takes a moment to end.
tl::unexpected<Error> interrupted(const std::vector<std::string>& command,
                                  launch::ChildProcess& child) {
  constexpr int kTries = 60;
  for (int i = 0; i < kTries && !child.poll(); ++i) sleep_ns(5'000'000);
  if (child.poll()) return fail(ErrorCode::kClosed, "interrupted before a QEMU was started");
  return fail(ErrorCode::kClosed,
              "interrupted before ringside saw a QEMU; '{}', process {}, runs on",
              words_of(command), child.pid());
}

Result<LaunchedGuest> launch_once(const std::vector<std::string>& command,
                                  const std::filesystem::path& command_folder,
                                  const launch::LaunchRequest& request,
                                  const std::filesystem::path& self,
                                  const std::function<bool()>& stop,
                                  std::optional<launch::ExitStatus>& ended) {
  RINGSIDE_ASSIGN(auto folder, launch::PrivateFolder::create());
  RINGSIDE_ASSIGN(auto child, start(command, command_folder, request, self, folder.path()));
  unsigned next_poll = kFirstPoll;
  for (unsigned n = 1;; ++n) {
    ended = child.poll();
    RINGSIDE_ASSIGN(auto info, launch::LaunchInfo::read(folder.path()));
    if (!info && n == next_poll) {
      next_poll = n + std::clamp(n / 4, kFirstPoll, kLongestPollGap);
      auto unshimmed = launch::find_unshimmed_qemu(child.pid(), self);
      // A shim may have become QEMU just now.
      RINGSIDE_ASSIGN(info, launch::LaunchInfo::read(folder.path()));
      if (!info) info = with_wishes(std::move(unshimmed), request);
    }
    if (info) {
      ended.reset();
      auto qemu = info->daemonizes ? launch::QemuProcess() : launch::QemuProcess(info->pid);
      return LaunchedGuest{std::move(folder), std::move(child), std::move(*info), std::move(qemu)};
    }
    if (ended && ended->as_shell() != 0)
      return fail(ErrorCode::kClosed, "'{}' ended ({}) before it started a QEMU", words_of(command),
                  ended->to_string());
    if (ended)
      return fail(ErrorCode::kClosed,
                  "'{}' ended ({}), and ringside saw no QEMU: give a command line that starts QEMU "
                  "and waits for it, or attach to the guest with --gdb or --qmp",
                  words_of(command), ended->to_string());
    if (stop()) return interrupted(command, child);
    sleep_ns(5'000'000);
  }
}

}  // namespace

Result<LaunchedGuest> launch_guest(const std::vector<std::string>& command,
                                   const std::filesystem::path& command_folder,
                                   launch::LaunchRequest request, const std::function<bool()>& stop,
                                   std::optional<launch::ExitStatus>& ended) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::kIo, "/proc/self/exe: {}", error.message());
  request.plugin = launch::find_plugin(self);
  auto guest = launch_once(command, command_folder, request, self, stop, ended);
  if (!guest) return guest;
  const auto next = launch::after_refusal(request, guest->info, guest->child);
  if (next == launch::NextStart::kNone) return guest;
  // A wrapper may do more than to start QEMU.
  if (!launch::is_qemu_program(command[0]))
    return fail(ErrorCode::kClosed,
                "QEMU has not loaded the TCG plugin, and has ended; start it again with --engine "
                "gdb");
  say("ringside: QEMU has not loaded the TCG plugin, and has ended: it is started again");
  request.plugin_failed = next == launch::NextStart::kWithoutPlugin;
  return launch_once(command, command_folder, request, self, stop, ended);
}

void quit_qemu(const LaunchedGuest& guest) {
  if (!guest.is_ours()) say("ringside: a QEMU that runs as a daemon is not ended by --then-quit");
  if (guest.qemu.valid()) guest.qemu.end(kQuitWaitMs);
}

std::optional<launch::ExitStatus> wait_for_qemu(LaunchedGuest& guest) {
  if (!guest.is_ours()) return {};
  while (!guest.child.poll()) {
    if (Signals::terminated()) return {};
    sleep_ns(20'000'000);
  }
  const launch::ExitStatus status = *guest.child.poll();
  // A shell reports a signal by an exit status above 128.
  launch::ExitStatus shown = status;
  if (status.signal == 0 && status.code > 128 && status.code < 128 + NSIG)
    shown = {0, status.code - 128};
  const bool was_ended =
      shown.signal == SIGINT || shown.signal == SIGTERM || shown.signal == SIGHUP;
  if (shown.signal != 0 && !was_ended)
    say("ringside: QEMU was " + shown.to_string());
  else if (shown.code != 0)  // kernels end QEMU with a status of their own through isa-debug-exit
    say("ringside: QEMU ended with " + shown.to_string());
  return status;
}

}  // namespace ringside::app
