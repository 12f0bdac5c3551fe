#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/socket.h"
#include "engines/engine.h"
#include "engines/gdb/gdb_engine.h"

namespace ringside::engines::qmp {

struct Attachment {
  std::unique_ptr<Engine> engine;
  std::string explanation;  // which way was taken, and why; for a person
};

// Things that are not to be done to the guest.
struct Restraint {
  bool never_stop = false;
  bool leave_stub = false;  // that its user has opened
};

// Captures from a QEMU of which only the monitor can be reached: through a gdb stub that QEMU opens
// for it (QmpEngine); where its user has opened one, through that, as long as nobody else wants it
// (LentStubEngine); and where that cannot be, or the guest is not to be stopped, by what the human
// monitor prints (HmpEngine).
//
// `stub_folder`: where QEMU is to make the stub's socket, a folder that QEMU may write to and
// nobody else may enter. `stub`: for the stub; its patience's end is the monitor's, too.
// Errors: those of Monitor::connect(), QmpEngine and HmpEngine.
[[nodiscard]] Result<Attachment> connect(
    const SocketAddress& address, const std::string& stub_folder, const Restraint& restraint,
    const gdb::Options& stub = {}, std::chrono::milliseconds timeout = std::chrono::seconds(5));

}  // namespace ringside::engines::qmp
