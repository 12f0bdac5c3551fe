#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "app/launched_guest.h"
#include "app/messages.h"
#include "app/sample_lines.h"
#include "launch/text_watch.h"
#include "session/recorder.h"

namespace ringside::app {

// Ends a recording for signals, the end of QEMU, and what the guest writes to its serial port;
// shows how far it is.
class GuestControl final : public session::Control {
 public:
  // `guest` may be null: then the guest is somebody else's, and Ctrl-C ends the recording. Else
  // Ctrl-C goes to QEMU too, and what QEMU makes of it counts.
  // `announce` is called when sampling has begun, with the kernel's file that was found until then
  // (empty: none); `over` becomes true when the engine is to wait for the guest no longer. With
  // `lines`, each sample has its line.
  GuestControl(LaunchedGuest* guest, const std::string& after, const std::string& until,
               std::function<void(const std::string&)> announce, std::atomic<bool>& over,
               std::optional<SampleLines> lines);

  [[nodiscard]] Wish poll() override;
  void progress(const Progress& progress) override;
  void sampled(const Sample& sample) override;
  void begun() override;
  void left_alone(engines::LeftAlone why) override;
  void overdue() override { over_ = true; }
  [[nodiscard]] bool wants_suspension() override;
  [[nodiscard]] bool guest_is_suspended() override;
  void suspend() override;
  void found(const session::KernelUpdate& kernel) override;
  void kernel_left(double seconds) override;
  void clear_progress() { line_.clear(); }
  // Why the guest was not sampled, as far as that is its own doing: a clause. Empty: it was.
  [[nodiscard]] std::string silence();

 private:
  // For which text it waits, and what came: a clause.
  [[nodiscard]] std::string waits() const;

  LaunchedGuest* guest_;
  std::function<void(const std::string&)> announce_;
  std::string found_file_;
  std::atomic<bool>& over_;
  engines::LeftAlone left_alone_ = engines::LeftAlone::kNo;
  std::string waiting_;  // the progress line that says so; empty: it waits for no text
  std::optional<launch::TextWatch> after_;
  std::optional<launch::TextWatch> until_;
  ProgressLine line_;
  std::optional<SampleLines> sample_lines_;
};

}  // namespace ringside::app
