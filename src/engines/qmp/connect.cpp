#include "engines/qmp/connect.h"

#include "engines/qmp/hmp_engine.h"
#include "engines/qmp/lent_stub_engine.h"
#include "engines/qmp/qmp_engine.h"

namespace ringside::engines::qmp {
namespace {

// Another client may have come to the stub meanwhile.
bool leaves_the_monitor(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kUnsupported ||
         error.code == ErrorCode::kTimeout || error.code == ErrorCode::kProtocol;
}

}  // namespace

Result<Attachment> connect(const SocketAddress& address, const std::string& stub_folder,
                           const Restraint& restraint, const gdb::Options& stub,
                           std::chrono::milliseconds timeout) {
  RINGSIDE_ASSIGN(auto monitor, Monitor::connect(address, {timeout, stub.patience.is_over}));
  std::string why = "the guest is not to be stopped";
  if (!restraint.never_stop) {
    auto engine = QmpEngine::attach(monitor, stub_folder, stub);
    if (engine)
      return Attachment{std::move(*engine),
                        "through a gdb stub that QEMU opens for ringside alone"};
    if (engine.error().code != ErrorCode::kUnsupported)
      return tl::unexpected<Error>(engine.error());
    why = engine.error().message;
    if (!restraint.leave_stub) {
      auto lent = LentStubEngine::attach(monitor, stub);
      if (lent)
        return Attachment{std::move(*lent),
                          "through the guest's gdb stub, which a client that comes later gets"};
      if (!leaves_the_monitor(lent.error())) return tl::unexpected<Error>(lent.error());
      if (lent.error().code != ErrorCode::kNotFound) why = lent.error().message;
    }
  }
  RINGSIDE_ASSIGN(auto engine, HmpEngine::start(std::move(monitor),
                                                {!restraint.never_stop, stub.captures_paused}));
  return Attachment{std::move(engine), "by what the monitor prints, because " + why};
}

}  // namespace ringside::engines::qmp
