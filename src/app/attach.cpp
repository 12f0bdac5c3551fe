#include "app/attach.h"

#include <time.h>

#include "base/socket.h"
#include "engines/tcg/tcg_engine.h"

namespace ringside::app {
namespace {

void rest() {
  const timespec pause{0, 5'000'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

Result<std::unique_ptr<engines::Engine>> attach_gdb(const std::string& address,
                                                    const engines::gdb::Options& options,
                                                    const std::function<bool()>& wait_while) {
  RINGSIDE_ASSIGN(const auto parsed, SocketAddress::parse(address));
  while (true) {
    auto engine = engines::gdb::GdbEngine::connect(parsed, options);
    if (engine) return std::unique_ptr<engines::Engine>(std::move(*engine));
    if (engine.error().code != ErrorCode::kNotFound || !wait_while())
      return tl::unexpected<Error>(engine.error());
    rest();
  }
}

Result<engines::qmp::Attachment> attach_qmp(const std::string& address,
                                            const std::filesystem::path& folder,
                                            bool stops_the_guest,
                                            const engines::gdb::Options& options,
                                            const std::function<bool()>& wait_while) {
  RINGSIDE_ASSIGN(const auto parsed, SocketAddress::parse(address));
  while (true) {
    auto attachment = engines::qmp::connect(parsed, folder.string(), stops_the_guest, options);
    if (attachment || attachment.error().code != ErrorCode::kNotFound || !wait_while())
      return attachment;
    rest();
  }
}

Result<std::unique_ptr<engines::Engine>> attach_tcg(const std::filesystem::path& ring,
                                                    const std::string& monitor,
                                                    const std::function<bool()>& is_over,
                                                    const std::function<bool()>& wait_while) {
  std::optional<SocketAddress> address;
  if (!monitor.empty()) {
    RINGSIDE_ASSIGN(address, SocketAddress::parse(monitor));
  }
  while (true) {
    auto engine =
        engines::tcg::TcgEngine::connect(ring, address, {std::chrono::seconds(5), is_over});
    if (engine) return std::unique_ptr<engines::Engine>(std::move(*engine));
    if (engine.error().code != ErrorCode::kNotFound || !wait_while())
      return tl::unexpected<Error>(engine.error());
    rest();
  }
}

}  // namespace ringside::app
