#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/gdb/protocol/batch.h"
#include "engines/gdb/protocol/connection.h"
#include "engines/gdb/protocol/stop_state.h"
#include "engines/guardian.h"
#include "engines/held_time.h"
#include "engines/migration_watch.h"
#include "engines/patience.h"

namespace ringside::engines::gdb {

// Properties of a stub that its handshake determined.
struct StubTraits {
  bool qemu = false;          // it knows the monitor's "info status"
  bool acknowledges = true;   // each packet is answered with '+'
  bool pipelines = false;     // it takes requests before it has answered the last one
  bool multiprocess = false;  // threads are p1.2
  bool silent_stops = false;  // a stop by a byte other than \x03 is not reported: QEMU from 8.1 on
  std::size_t packet_size = 400;
};

// The conversation with a stub once the handshake is done: who has stopped the guest, which answers
// are still to come.
//
// Enters: batches of requests. Leaves: their answers in order, while the guest stands still because
// we asked for it, and the certainty that it runs again. The difficulty: the guest's user, too, may
// stop or resume it at any time through the monitor, and the stub reports both stops with the same
// packet. QEMU (7.2, gdbstub.c, gdb_read_byte) stops a running guest at *any* byte, swallows that
// byte, sends the stop reply before it looks at the next byte, and ignores all up to the next '$'.
// So stop() sends a qC packet where gdb sends \x03: if the guest ran, its '$' is swallowed and
// there is a stop reply and no answer; if its user had just stopped it, qC is answered. The
// requests of the batch follow in the same write. One hole remains: a user who stops the guest
// while we hold it stopped is not noticed by the stub, and the guest runs on after our sample.
// Newer QEMU (8.1 on; gdbstub.c of 10.0) sends a stop reply only after \x03, or where `c` was the
// last it got. So there stop() sends qC twice: one answer says that the guest ran and has stopped,
// two that its user had stopped it. And what is sent while we hold the guest begins with "+\x03",
// which does nothing then; if somebody has resumed the guest, it stops with a stop reply.
//
// A write that fails half-way leaves the stub inside a packet, and all that follows would be taken
// for its rest. So it is the connection's end: the detach sequence, which is understood there too,
// lets the guest run, or, where the stub does not confirm that in time, the guardian does.
//
// A guest that is being migrated is neither stopped nor continued. QEMU is asked at a stop, and
// before a continue, where MigrationWatch has a reason. A guest that stands for us when QEMU sends
// its state is left standing, and continued once the migration has failed.
//
// Who has stopped the guest is one state (stop_state.h). It changes in take() only, and the
// guardian learns of it there. A guest that is paused stays so for the guardian until an answer
// shows that it was ours.
class Stub {
 public:
  // After the handshake, which leaves the guest stopped: `guest_ran` before it.
  Stub(Connection connection, StubTraits traits, std::unique_ptr<Guardian> guardian,
       Patience patience, bool guest_ran, MigrationWatch watch);
  // Lets the guest run, except where its user stopped it, and detaches. Where the stub does not
  // confirm that within half a second it is left to the guardian.
  ~Stub();
  // The same before its destruction, so that another client is served. Only what has been counted
  // can be asked for afterwards.
  void end();
  Stub(const Stub&) = delete;
  Stub& operator=(const Stub&) = delete;

  [[nodiscard]] const StubTraits& traits() const { return traits_; }
  // The guardian also restores this scheduling if ringside dies.
  void restore_on_death(const std::optional<Scheduling>& before) {
    if (guardian_) guardian_->restore_on_death(before);
  }
  [[nodiscard]] pid_t guardian_pid() const { return guardian_ ? guardian_->pid() : 0; }

  [[nodiscard]] StopState state() const { return state_; }

  // Reads stop replies that came unasked: afterwards state() is kPaused if the guest's user has
  // stopped it. Disturbs nothing.
  [[nodiscard]] Result<void> notice_stops();

  struct Stopped {
    bool ours = false;                   // false: its user had stopped it
    std::uint64_t asked_ns = 0;          // monotonic; when the guest was asked to stop
    std::uint64_t stopped_ns = 0;        // when it had stopped, at the latest
    std::uint64_t waited_before_ns = 0;  // for a processor: our thread, until asked_ns
    std::vector<std::string> replies;    // to the batch
  };
  // Stops the guest and answers `batch`, which must not be empty. After an error the guest is asked
  // to run again. After requests that the stub did not take in time (kTimeout) it is detached, and
  // all further calls are kProtocol. kDisturbed: the patience is over. kUsage: it is held already.
  // kMigrating, kMoved: the guest is being migrated, or was, and is left alone.
  // `on_stop` is called once it stands still, while the answers to the batch are to come.
  [[nodiscard]] Result<Stopped> stop(const Batch& batch, const std::function<void()>& on_stop = {});
  // Answers `batch` while the guest stands still; kUsage where it runs.
  [[nodiscard]] Result<std::vector<std::string>> exchange(const Batch& batch);
  // The same while we hold the guest, and resume() in the same write.
  [[nodiscard]] Result<std::vector<std::string>> exchange_and_resume(const Batch& batch);
  // Only a guest that we hold: else kUsage. One that is found to be migrated is left alone.
  [[nodiscard]] Result<void> resume();
  // By QEMU's last answer.
  [[nodiscard]] Migration migration() const { return watch_.migration(); }
  // Whether the guest is kPaused because it is, or may be, migrated.
  [[nodiscard]] bool leaves_guest_alone() const;
  // Whether it stands for us meanwhile.
  [[nodiscard]] bool left_standing() const { return watch_.left_standing(); }
  // Takes in what the monitor beside the stub has answered.
  void note_migration(Migration migration);
  // The text that QEMU's monitor prints for a command. Stops the guest for a moment if it runs.
  [[nodiscard]] Result<std::string> ask_monitor(std::string_view command);
  [[nodiscard]] const HeldTime& held_time() const { return held_time_; }
  // When the guest had last stopped for us (monotonic).
  [[nodiscard]] std::uint64_t last_stop_ns() const { return last_stop_ns_; }
  // To be called around batches that enter and leave QEMU's physical mode. Where such a batch
  // fails, the mode is left before the guest runs again; and from the first call on the detach
  // sequence to the stub, ours and the guardian's, leave it too.
  void begin_physical_mode();
  void end_physical_mode() { physical_mode_ = PhysicalMode::kLeft; }

 private:
  enum class PhysicalMode { kNeverEntered, kEntered, kLeft };

  // A stop that is under way.
  struct Stopping {
    Stopped& outcome;
    const std::function<void()>& on_stop;
    void has_stopped() const;
  };

  // In stub_migration.cpp.
  [[nodiscard]] bool asks_at_stop();
  [[nodiscard]] Result<void> may_be_stopped();
  [[nodiscard]] Result<void> settle(Stopped& stopped);
  [[nodiscard]] bool asks_before_continue();
  [[nodiscard]] Result<bool> may_continue();
  void continue_by_monitor();
  void settle_at_end(std::chrono::milliseconds timeout);
  void leave_standing();

  [[nodiscard]] Result<std::vector<std::string>> stop_plain(const Batch& batch,
                                                            const Stopping& stopping);
  [[nodiscard]] Result<std::vector<std::string>> ask(const Batch& batch, std::string_view before,
                                                     std::string_view after,
                                                     const Stopping* stopping);
  [[nodiscard]] Result<std::vector<std::string>> ask_one_by_one(const Batch& batch);
  [[nodiscard]] Result<void> catch_up();
  [[nodiscard]] Result<std::string> receive_answer(Clock::time_point deadline);
  template <class T>
  [[nodiscard]] Result<T> or_resume(Result<T> result);
  [[nodiscard]] Result<void> send(std::string_view bytes, Clock::time_point deadline);
  // `waited_before_ns`: wire::own_wait_ns() when `c` was sent.
  void take_continue(std::uint64_t waited_before_ns);
  [[nodiscard]] tl::unexpected<Error> ended() const;
  [[nodiscard]] bool has_ended() const {
    return state_ == StopState::kDetached || state_ == StopState::kGone;
  }
  [[nodiscard]] Result<void> must_be_held() const;
  void take(StopEvent event);
  void let_go();
  [[nodiscard]] bool detach();
  // Bytes in front of requests while we hold the guest.
  [[nodiscard]] std::string_view before_batch() const;
  // The bytes that let the guest run and end the conversation, whatever went before.
  [[nodiscard]] std::string detach_text() const;
  [[nodiscard]] Clock::time_point deadline() const { return Clock::now() + patience_.timeout; }
  [[nodiscard]] Result<void> go_on() const;

  Connection connection_;
  StubTraits traits_;
  std::unique_ptr<Guardian> guardian_;
  Patience patience_;
  StopState state_;
  PhysicalMode physical_mode_ = PhysicalMode::kNeverEntered;  // kEntered: or it may be so
  std::uint64_t last_stop_ns_ = 0;
  HeldTime held_time_;
  std::size_t outstanding_ = 0;  // answers to requests of a batch that failed
  std::string console_;          // what the monitor has printed since it was last asked
  MigrationWatch watch_;
};

// The requests for what migration_in() reads.
[[nodiscard]] Batch migration_questions();

// 'T' and 'S': the guest has stopped; 'W' and 'X': it has ended.
[[nodiscard]] bool is_stop_reply(std::string_view reply);
[[nodiscard]] bool is_exit_reply(std::string_view reply);

}  // namespace ringside::engines::gdb
