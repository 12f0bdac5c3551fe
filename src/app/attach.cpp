#include "app/attach.h"

#include <time.h>

#include "base/clock.h"
#include "base/socket.h"
#include "engines/tcg/tcg_engine.h"

namespace ringside::app {
namespace {

constexpr std::uint64_t kTryAgainNs = 5'000'000;

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
    sleep_ns(kTryAgainNs);
  }
}

Result<engines::qmp::Attachment> attach_qmp(const std::string& address,
                                            const std::filesystem::path& folder,
                                            const engines::qmp::Restraint& restraint,
                                            const engines::gdb::Options& options,
                                            const std::function<bool()>& wait_while) {
  RINGSIDE_ASSIGN(const auto parsed, SocketAddress::parse(address));
  while (true) {
    auto attachment = engines::qmp::connect(parsed, folder.string(), restraint, options);
    if (attachment || attachment.error().code != ErrorCode::kNotFound || !wait_while())
      return attachment;
    sleep_ns(kTryAgainNs);
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
    sleep_ns(kTryAgainNs);
  }
}

}  // namespace ringside::app
