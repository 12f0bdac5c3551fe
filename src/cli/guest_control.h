#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/attach.h"
#include "cli/terminal.h"
#include "launch/text_watch.h"
#include "session/recorder.h"

namespace ringside::cli {

// Ends a recording for signals, the end of QEMU, and what the guest writes to its serial port;
// shows how far it is.
class GuestControl final : public session::Control {
 public:
  // `guest` may be null: then the guest is somebody else's, and Ctrl-C ends the recording. Else
  // Ctrl-C goes to QEMU too, and what QEMU makes of it counts.
  GuestControl(LaunchedGuest* guest, const std::string& after, const std::string& until);

  [[nodiscard]] Wish poll() override;
  void progress(const Progress& progress) override;
  void found(const session::KernelNews& kernel) override;
  void clear_progress() { line_.clear(); }

 private:
  LaunchedGuest* guest_;
  std::optional<launch::TextWatch> after_;
  std::optional<launch::TextWatch> until_;
  ProgressLine line_;
};

}  // namespace ringside::cli
