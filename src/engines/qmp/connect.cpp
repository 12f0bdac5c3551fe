#include "engines/qmp/connect.h"

#include "engines/qmp/hmp_engine.h"
#include "engines/qmp/qmp_engine.h"

namespace ringside::engines::qmp {

Result<Attachment> connect(const SocketAddress& address, const std::string& stub_folder,
                           bool stops_the_guest, const gdb::Options& stub,
                           std::chrono::milliseconds timeout) {
  RINGSIDE_ASSIGN(auto monitor, Monitor::connect(address, {timeout, stub.patience.is_over}));
  std::string why = "the guest is not to be stopped";
  if (stops_the_guest) {
    auto engine = QmpEngine::attach(monitor, stub_folder, stub);
    if (engine)
      return Attachment{
          std::move(*engine), "through a gdb stub that QEMU opens for ringside alone", {}};
    if (engine.error().code != ErrorCode::kUnsupported)
      return tl::unexpected<Error>(engine.error());
    why = engine.error().message;
  }
  RINGSIDE_ASSIGN(auto engine,
                  HmpEngine::start(std::move(monitor), {stops_the_guest, stub.captures_paused}));
  auto caveats = engine->caveats();
  return Attachment{std::move(engine), "by what the monitor prints, because " + why,
                    std::move(caveats)};
}

}  // namespace ringside::engines::qmp
