#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "base/scheduling.h"

namespace ringside::engines::gdb {

// What is to become of the guest if ringside dies now.
enum class GuestState : int {
  kUnknown,  // just connected: a stop reply that waits in the socket says that the guest had run
  kRunning,  // it runs; an unread stop reply means that its user has stopped it meanwhile
  kOurs,     // we stopped it, or are about to
  kPaused,   // its user stopped it
};

// A process of its own that lets the guest run again when ringside dies while the guest stands
// still.
//
// Enters: the stub's socket, and after each change the guest's state, through shared memory. It
// sleeps on a link (a socket pair) whose other end only ringside holds; the link's end without a
// goodbye is ringside's death, SIGKILL included. Then it writes one interrupt and one detach. That
// is hard to get right because the bytes before it are unknown: the guest may run, stand, or the
// stub may wait for the rest of a packet. "\x03#00$D;1#b0" does it for QEMU 7.2 (gdbstub.c,
// gdb_read_byte): on a running guest the first byte stops it and "#00" is ignored, as everything
// before '$' after a stop reply; on a stopped guest all of "\x03#00" is ignored; inside a packet
// "#00" ends it with a wrong checksum. Then the detach resumes.
//
// It is in a session of its own, so that a signal to ringside's process group does not reach it. It
// is forked, not executed; between fork and exit it calls async-signal-safe functions only.
class Guardian {
 public:
  // Returns when the guardian is out of reach of a signal to our process group; kTimeout if it does
  // not get there within 2 s.
  [[nodiscard]] static Result<std::unique_ptr<Guardian>> start(int socket);
  ~Guardian();  // says goodbye and waits for the process to end
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  void set_state(GuestState state);
  [[nodiscard]] GuestState state() const;
  // The bytes that interrupt the guest and detach; the default is QEMU's. None: they are sent, and
  // the guardian only keeps the connection until the stub has confirmed them.
  void set_farewell(std::string_view bytes);
  // How the stub's thread was scheduled before ringside changed it.
  void restore_on_death(const std::optional<Scheduling>& before);
  // Leaves the guest to the guardian as if ringside had died; nobody waits for it. For a stub that
  // does not answer us. The socket must not be used afterwards.
  void abandon();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  struct Shared;
  Guardian(Shared* shared, UniqueFd link, pid_t pid)
      : shared_(shared), link_(std::move(link)), pid_(pid) {}
  [[noreturn]] static void watch(Shared* shared, int socket, int link);

  Shared* shared_;
  UniqueFd link_;  // invalid once it is abandoned
  pid_t pid_;
};

}  // namespace ringside::engines::gdb
