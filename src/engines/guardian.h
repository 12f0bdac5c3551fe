#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "base/scheduling.h"

namespace ringside::engines {

// The guest's state: determines what is done to the guest if ringside dies now.
enum class GuestState : int {
  kUnknown,  // just connected
  kRunning,  // it runs, if its user has not stopped it meanwhile
  kOurs,     // we stopped it, or are about to
  kPaused,   // its user stopped it
};

// How a protocol lets a guest run of which nothing is known but its state: what ringside has sent
// may end in the middle of a request. Both are called between fork and exit: async-signal-safe
// calls only.
struct DetachSequence {
  // Whether it is to be done at all. Asks and reads at `socket` what shows it, for as long as it
  // takes.
  bool (*needed)(GuestState state, int socket);
  // Sends `detach_text`, and returns when it was heeded, or nobody will.
  void (*say)(int socket, std::string_view detach_text);
  std::string_view detach_text;  // at most 64 bytes
};

// A process of its own that lets the guest run again when ringside dies while the guest stands
// still.
//
// Enters: the connection's socket, and after each change the guest's state, through shared memory.
// It sleeps on a link (a socket pair) whose other end only ringside holds; the link's end without a
// goodbye is ringside's death, SIGKILL included. Then it says the protocol's detach sequence.
//
// It is in a session of its own, so that a signal to ringside's process group does not reach it. It
// is forked, not executed; between fork and exit it calls async-signal-safe functions only.
class Guardian {
 public:
  // Returns when the guardian is out of reach of a signal to our process group; kTimeout if it does
  // not get there within 10 s.
  [[nodiscard]] static Result<std::unique_ptr<Guardian>> start(
      int socket, const DetachSequence& detach_sequence);
  ~Guardian();  // says goodbye and waits for the process to end
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  void set_state(GuestState state);
  [[nodiscard]] GuestState state() const;
  // Instead of DetachSequence::detach_text. None: it is sent, and the guardian only keeps the
  // connection until it was heeded.
  void set_detach_text(std::string_view bytes);
  // How QEMU's thread was scheduled before ringside changed it.
  void restore_on_death(const std::optional<Scheduling>& before);
  // Leaves the guest to the guardian as if ringside had died; nobody waits for it. For a stub that
  // does not answer us. The socket must not be used afterwards.
  void abandon();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  struct Shared;
  Guardian(Shared* shared, UniqueFd link, pid_t pid)
      : shared_(shared), link_(std::move(link)), pid_(pid) {}
  [[noreturn]] static void watch(Shared* shared, const DetachSequence& detach_sequence, int socket,
                                 int link);

  Shared* shared_;
  UniqueFd link_;  // invalid once it is abandoned
  pid_t pid_;
};

}  // namespace ringside::engines
