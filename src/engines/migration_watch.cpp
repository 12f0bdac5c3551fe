#include "engines/migration_watch.h"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <string>

namespace ringside::engines {
namespace {

// Each question stops the guest for a moment where there is no monitor.
constexpr std::uint64_t kAskAgainNs = 1'000'000'000;

// QEMU's qapi/migration.json, MigrationStatus. One that is not known is taken to be under way.
constexpr std::string_view kOver[]{"", "none", "completed", "failed", "cancelled"};
// QEMU's qapi/run-state.json, RunState.
constexpr std::string_view kFinishingStates[]{"finish-migrate", "save-vm", "restore-vm", "colo"};

std::string folder_of_threads(pid_t process) { return fmt::format("/proc/{}/task", process); }

// By the C library: std::filesystem takes several times as long.
std::optional<std::vector<pid_t>> threads_of(pid_t process) {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, Close> folder(::opendir(folder_of_threads(process).c_str()));
  if (!folder) return std::nullopt;
  std::vector<pid_t> threads;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc{})
      threads.push_back(thread);
  }
  std::ranges::sort(threads);
  return threads;
}

// The kernel counts each thread as a link of the folder, which has two more (fs/proc/base.c,
// proc_task_getattr()).
std::optional<std::size_t> count_threads_of(pid_t process) {
  struct stat status {};
  if (::stat(folder_of_threads(process).c_str(), &status) != 0 || status.st_nlink < 2)
    return std::nullopt;
  return status.st_nlink - 2;
}

// The rest of the line that begins so; nothing where there is none.
std::optional<std::string_view> line_behind(std::string_view text, std::string_view start) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (!line.starts_with(start)) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t", start.size()), line.size()));
    return line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
  }
  return std::nullopt;
}

}  // namespace

Migration migration_by(std::string_view run_state, std::string_view status) {
  if (run_state == "postmigrate") return Migration::kMoved;
  if (run_state == "inmigrate") return Migration::kIncoming;
  if (std::ranges::find(kFinishingStates, run_state) != std::end(kFinishingStates))
    return Migration::kFinishing;
  return std::ranges::find(kOver, status) == std::end(kOver) ? Migration::kUnderWay
                                                             : Migration::kNone;
}

// "VM status: paused", "VM status: paused (postmigrate)". With each instruction as a block of its
// own, QEMU 7.2 prints "VM status: running (single step mode)", later versions "VM status: paused
// (one insn per TB) (prelaunch)", and 10.0 no mode any more (QEMU's hmp_info_status()).
std::string_view run_state_in(std::string_view text) {
  constexpr std::string_view kModes[]{"single step mode", "one insn per TB"};
  const std::string_view line = line_behind(text, "VM status:").value_or("");
  std::string_view state = line.substr(0, line.find(' '));
  for (std::size_t open = line.find('('); open != line.npos; open = line.find('(', open + 1)) {
    const std::string_view word = line.substr(open + 1, line.find(')', open) - open - 1);
    if (std::ranges::find(kModes, word) == std::end(kModes)) state = word;
  }
  return state;
}

// "Migration status: failed (no route)", from 10.1 on "Status: …".
Migration migration_in(std::string_view text) {
  auto status = line_behind(text, "Migration status:");
  if (!status) status = line_behind(text, "Status:");
  const std::string_view words = status.value_or("");
  return migration_by(run_state_in(text), words.substr(0, words.find(' ')));
}

tl::unexpected<Error> fail_for(Migration migration, bool was_held) {
  if (migration != Migration::kMoved)
    return fail(ErrorCode::kMigrating,
                "QEMU migrates the guest or saves its state: it is left alone meanwhile");
  return fail(ErrorCode::kMoved, "the guest has moved: its migration is completed{}",
              was_held ? ". It stood still for a sample when its state was sent, so it may be "
                         "paused at the destination; resume it there (monitor: cont)"
                       : "");
}

MigrationWatch::MigrationWatch(pid_t qemu)
    : MigrationWatch([qemu] { return qemu > 0 ? threads_of(qemu) : std::nullopt; },
                     [qemu] { return qemu > 0 ? count_threads_of(qemu) : std::nullopt; }) {}

bool MigrationWatch::has_new_threads() {
  listed_ = list_threads_();
  return listed_ && !std::ranges::includes(known_, *listed_);
}

bool MigrationWatch::asks_at_stop() { return has_new_threads() || !listed_; }

bool MigrationWatch::asks_before_continue() {
  if (answered_ns_ == 0) {
    listed_ = list_threads_();
    return true;
  }
  const auto count = count_threads_();
  if (!count || !listed_) return false;
  const bool may_be_new = *count > listed_->size() || !std::ranges::includes(known_, *listed_);
  return may_be_new && has_new_threads();
}

bool MigrationWatch::may_have_ended(std::uint64_t now_ns) {
  listed_ = list_threads_();
  const bool has_one_gone = listed_ && !std::ranges::includes(*listed_, suspects_);
  const bool is_time = suspects_.empty() && now_ns >= answered_ns_ + kAskAgainNs;
  suspect_new_threads();
  return has_one_gone || is_time;
}

// A migration first connects: its threads may come later than the answer that tells of it.
void MigrationWatch::suspect_new_threads() {
  suspects_.clear();
  if (!listed_) return;
  std::ranges::set_difference(*listed_, known_, std::back_inserter(suspects_));
}

void MigrationWatch::answered(Migration migration, std::uint64_t now_ns) {
  migration_ = migration;
  answered_ns_ = now_ns;
  if (!is_under_way()) known_ = listed_.value_or(std::vector<pid_t>());
  suspect_new_threads();
}

}  // namespace ringside::engines
