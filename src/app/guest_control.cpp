#include "app/guest_control.h"

#include <algorithm>

#include "app/signals.h"
#include "app/suspension.h"

namespace ringside::app {
namespace {

constexpr std::size_t kBarWidth = 20;

}  // namespace

GuestControl::GuestControl(LaunchedGuest* guest, const std::string& after, const std::string& until,
                           std::function<void(const std::string&)> announce,
                           std::atomic<bool>& over, std::optional<SampleLines> lines)
    : guest_(guest),
      announce_(std::move(announce)),
      over_(over),
      line_(guest == nullptr || !guest->info.uses_terminal),
      sample_lines_(lines) {
  if (!after.empty()) after_.emplace(guest->info.serial_log, after);
  if (!until.empty()) until_.emplace(guest->info.serial_log, until);
}

session::Control::Wish GuestControl::poll() {
  if (Signals::terminated()) return Wish::kStop;
  const bool ours = guest_ != nullptr && guest_->is_ours();
  if (!ours && Signals::interrupted()) return Wish::kStop;
  if (ours && guest_->child.poll()) return Wish::kStop;
  if (after_ && !after_->seen()) {
    if (std::string waiting = waits(); waiting != waiting_) {
      waiting_ = std::move(waiting);
      line_.show("waiting: " + waiting_ + "  (Ctrl-C ends)");
    }
    return Wish::kWait;
  }
  if (until_ && until_->seen()) return Wish::kStop;
  return Wish::kSample;
}

void GuestControl::begun() {
  line_.clear();
  announce_(found_file_);
  const std::string head = sample_lines_ ? sample_lines_->head() : std::string();
  if (!head.empty()) say_lines(head);
}

void GuestControl::sampled(const Sample& sample) {
  if (!sample_lines_) return;
  line_.clear();
  say_lines(sample_lines_->of(sample));
}

void GuestControl::progress(const Progress& progress) {
  std::string done;
  if (progress.share) {
    const double share = std::min(*progress.share, 1.0);
    const auto marks = static_cast<std::size_t>(share * kBarWidth);
    done =
        fmt::format("[{:-<{}}] {:.0f} % done, ", std::string(marks, '#'), kBarWidth, 100 * share);
    if (share > 0) done += fmt::format("{:.0f} s left, ", progress.seconds * (1 - share) / share);
  }
  line_.show(fmt::format("recording {:.1f} s: {}{} sample{}, {} tick{} idle  (Ctrl-C ends)",
                         progress.seconds, done, progress.samples, progress.samples == 1 ? "" : "s",
                         progress.idle, progress.idle == 1 ? "" : "s"));
}

std::string GuestControl::waits() const {
  const std::string last = after_->last_line();
  return fmt::format(
      "'{}' has not come on the guest's serial port, {}", after_->text(),
      last.empty() ? "on which nothing came" : fmt::format("whose last line is '{}'", last));
}

std::string GuestControl::silence() {
  if (after_ && !after_->was_seen())
    return after_->seen() ? fmt::format("the guest ended when '{}' came", after_->text()) : waits();
  switch (left_alone_) {
    case engines::LeftAlone::kNo:
      break;
    case engines::LeftAlone::kPaused:
      return "the guest was paused by its user";
    case engines::LeftAlone::kMigrating:
      return "QEMU migrated the guest or saved its state";
    case engines::LeftAlone::kIncoming:
      return "QEMU waited for a migration to bring the guest";
  }
  return {};
}

void GuestControl::left_alone(engines::LeftAlone why) {
  line_.clear();
  left_alone_ = why;
  switch (why) {
    case engines::LeftAlone::kNo:
      return say("ringside: the guest goes on");
    case engines::LeftAlone::kPaused:
      return say(
          "ringside: the guest is paused by its user and stays so; it is sampled when it goes on "
          "(monitor: cont)");
    case engines::LeftAlone::kMigrating:
      return say(
          "ringside: QEMU migrates the guest or saves its state: it is neither stopped nor sampled "
          "meanwhile");
    case engines::LeftAlone::kIncoming:
      return say(
          "ringside: QEMU waits for a migration to bring the guest; it is sampled when it runs");
  }
}

void GuestControl::kernel_left(double seconds) {
  line_.clear();
  say(
      fmt::format("ringside: {:.1f} s after the start the kernel is no longer where it ran: the "
                  "guest has booted again, or has loaded another kernel; looking for it",
                  seconds));
}

bool GuestControl::wants_suspension() { return Suspension::is_wanted(); }

// Ctrl-Z is for QEMU, too, where ringside started it.
bool GuestControl::guest_is_suspended() {
  return guest_ != nullptr && guest_->is_ours() && is_suspended(guest_->info.pid);
}

void GuestControl::suspend() {
  line_.clear();
  Suspension::now();
}

// Says what the user could not know.
void GuestControl::found(const session::KernelUpdate& kernel) {
  const elf::Image& image = kernel.image;
  found_file_ = image.file->name();
  const bool down = image.load_bias >> 63 != 0;
  if (image.load_bias == 0 && !image.file->name().empty() && !kernel.is_candidate) return;
  line_.clear();
  if (kernel.is_candidate)
    say(
        fmt::format("ringside: the kernel is {}: the guest's memory has its code; --kernel FILE "
                    "gives another",
                    image.file->name()));
  if (image.file->name().empty())
    say(fmt::format("ringside: found a kernel in the guest's memory: {}, {} functions",
                    kernel.system, image.file->symbols().size()));
  else if (image.load_bias != 0)
    say(fmt::format("ringside: the kernel runs {:#x} {} its link addresses",
                    down ? 0 - image.load_bias : image.load_bias, down ? "below" : "above"));
}

}  // namespace ringside::app
