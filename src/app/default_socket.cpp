#include "app/default_socket.h"

#include <string>

#include "app/listening_process.h"
#include "app/messages.h"

namespace ringside::app {
Result<void> take_default_socket(SamplingSettings& settings) {
  const bool has_stub = listening_process(kOsdkSocket) != 0;
  const bool has_monitor = listening_process(kQmpSocket) != 0;
  if (has_stub && has_monitor)
    return fail(ErrorCode::kUsage,
                "which guest? One listens at {0} and one at {1}: give --remote {0} or --qmp {1}",
                kOsdkSocket, kQmpSocket);
  if (has_stub) {
    settings.gdb = kOsdkSocket;
    settings.is_osdks = true;
    say(std::string("ringside: attaching to the gdb stub at ") + kOsdkSocket);
  } else if (has_monitor) {
    settings.qmp = kQmpSocket;
    say(std::string("ringside: attaching to the monitor at ") + kQmpSocket);
  }
  return {};
}

}  // namespace ringside::app
