#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ringside::engines {

// Whether QEMU moves the guest to another machine or into a file at the moment. While it does, the
// guest may be neither stopped nor continued: one that stands for a sample when its migration ends
// stays standing at the destination, and one that is continued then runs at both ends, or QEMU ends
// itself (QEMU's migration/migration.c: migration_stop_vm(), migration_iteration_finish()).
enum class Migration {
  kNone,       // or one that has failed or was cancelled
  kUnderWay,   // and the guest still runs here
  kFinishing,  // QEMU has stopped the guest to send or save what is left, or loads a snapshot
  kIncoming,   // the guest has not come yet: it stands, and starts by itself
  kMoved,      // it runs elsewhere, or its state is in a file; here it stands (postmigrate)
};

// By the names that QEMU has for a run state ("running", "paused", "finish-migrate" …) and for a
// migration's status ("active", "completed" …; empty: there was none).
[[nodiscard]] Migration migration_by(std::string_view run_state, std::string_view status);
// The run state in what the human monitor prints for "info status": "running", "paused",
// "postmigrate" …; empty where there is none. A mode of translation is no state.
[[nodiscard]] std::string_view run_state_in(std::string_view text);
// By what the human monitor prints for "info status" and "info migrate", one behind the other.
[[nodiscard]] Migration migration_in(std::string_view text);

// The error of what needs the guest meanwhile: kMoved, or kMigrating while it is under way.
// `was_held`: the guest stood for us when its state was sent.
[[nodiscard]] tl::unexpected<Error> fail_for(Migration migration, bool was_held);

[[nodiscard]] inline bool is_of_migration(const Error& error) {
  return error.code == ErrorCode::kMigrating || error.code == ErrorCode::kMoved;
}

// Decides when QEMU has to be asked whether it migrates the guest. A question through the gdb stub
// stops a running guest, so there has to be a reason: a migration runs in threads of its own, and
// QEMU's threads are listed by the host in some microseconds. A thread that was not there at the
// last answer is the reason to ask. It proves nothing: block devices' threads come and go, too.
class MigrationWatch {
 public:
  // The threads of QEMU's process in order of their numbers; nothing where they are not known.
  using ListThreads = std::function<std::optional<std::vector<pid_t>>()>;
  using CountThreads = std::function<std::optional<std::size_t>()>;
  MigrationWatch(ListThreads list_threads, CountThreads count_threads)
      : list_threads_(std::move(list_threads)), count_threads_(std::move(count_threads)) {}
  // `qemu`: a process of this machine; 0: it is not known.
  explicit MigrationWatch(pid_t qemu);

  // Whether to ask before, or while, the guest is stopped: there is a new thread, the threads are
  // not known, or nobody has asked yet. The answer then counts for the threads of this call.
  [[nodiscard]] bool asks_at_stop();
  // The same before the guest is continued: there are more threads than at the stop. Counting them
  // takes a microsecond or two, while the guest stands still. Where they are not known, the answer
  // at the stop has to do.
  [[nodiscard]] bool asks_before_continue();
  // While one is under way: whether it may have ended. One of the threads that came with it has
  // gone, or a second has passed and no such thread is known. `now_ns` is monotonic.
  [[nodiscard]] bool may_have_ended(std::uint64_t now_ns);
  // Takes in an answer of QEMU.
  void answered(Migration migration, std::uint64_t now_ns);

  [[nodiscard]] bool has_answer() const { return answered_ns_ != 0; }
  // By the last answer.
  [[nodiscard]] Migration migration() const { return migration_; }
  // The guest stands for us meanwhile: its stop was not undone, because QEMU was sending its state.
  // It is to be continued where the migration fails.
  [[nodiscard]] bool left_standing() const { return left_standing_; }
  void set_left_standing(bool stands) { left_standing_ = stands; }
  // The guest is to be left alone, until may_have_ended().
  [[nodiscard]] bool is_under_way() const {
    return migration_ == Migration::kUnderWay || migration_ == Migration::kFinishing;
  }

 private:
  [[nodiscard]] bool has_new_threads();
  void suspect_new_threads();

  ListThreads list_threads_;
  CountThreads count_threads_;
  std::optional<std::vector<pid_t>> listed_;  // at the last question
  std::vector<pid_t> known_;                  // no migration's
  std::vector<pid_t> suspects_;               // of the migration that is under way, or others
  Migration migration_ = Migration::kNone;
  std::uint64_t answered_ns_ = 0;  // 0: not yet
  bool left_standing_ = false;
};

}  // namespace ringside::engines
