#include "app/record_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/record_session.h"
#include "app/running_qemus.h"

namespace ringside::app {
namespace {

using launch::EngineKind;

struct Asked {
  const SamplingSettings& settings;
  bool starts_qemu;  // a command line stands behind --

  [[nodiscard]] bool gdb() const { return !settings.gdb.empty(); }
  [[nodiscard]] bool qmp() const { return !settings.qmp.empty(); }
  [[nodiscard]] bool ring() const { return !settings.ring.empty(); }
  [[nodiscard]] bool engine(EngineKind kind) const { return settings.engine == kind; }
};

struct Rule {
  bool (*is_broken)(const Asked& asked);
  std::string_view message;  // with {verb}, {attach}: the option that attaches, and {engine}
};

// The first that is broken is reported. These are no excludes() and needs() of the command line's
// parser, since an option may come from the project's file, and since the message states what to
// do.
constexpr std::array kRules{
    Rule{[](const Asked& asked) { return !asked.starts_qemu && !asked.settings.attaches(); },
         "which guest? Start it with 'ringside {verb} -- qemu-system-x86_64 …', or attach to a gdb "
         "stub with 'ringside {verb} --gdb localhost:1234', to a monitor with --qmp, to the plugin "
         "with --ring, or to a kernel's serial line with --serial"},
    Rule{[](const Asked& asked) { return asked.starts_qemu && asked.settings.attaches(); },
         "{attach} attaches to a guest that runs; leave it out where a command line stands behind "
         "--"},
    Rule{[](const Asked& asked) { return asked.ring() && asked.gdb(); },
         "--gdb and --ring attach in two ways: give one"},
    Rule{[](const Asked& asked) {
           return asked.ring() && !asked.engine(EngineKind::kAuto) &&
                  !asked.engine(EngineKind::kTcg);
         },
         "--ring is the plugin's: leave out --engine {engine}"},
    Rule{[](const Asked& asked) {
           return asked.engine(EngineKind::kRing) &&
                  (!asked.settings.interval.empty() || asked.settings.frequency);
         },
         "with --engine ring the guest decides when it samples: leave out --interval and -F"},
    Rule{[](const Asked& asked) {
           return !asked.settings.serial.empty() &&
                  (asked.gdb() || asked.qmp() || asked.ring() || !asked.engine(EngineKind::kRing));
         },
         "--serial reads what a kernel drains from its rings: leave out --gdb, --qmp, --ring and "
         "--engine"},
    Rule{[](const Asked& asked) {
           return !asked.settings.redox_rings.empty() &&
                  (!asked.engine(EngineKind::kRing) || !asked.settings.serial.empty());
         },
         "--redox-rings are in the memory of a guest that samples itself: add --engine ring"},
    Rule{[](const Asked& asked) {
           return !asked.settings.context_names.empty() && asked.settings.redox_rings.empty();
         },
         "--context-names are of the contexts in Redox' rings: add --redox-rings"},
    Rule{[](const Asked& asked) {
           return !asked.settings.cpu_frequency.empty() && !asked.engine(EngineKind::kRing);
         },
         "--cpu-freq is of a guest that samples itself: add --engine ring or --serial"},
    Rule{[](const Asked& asked) { return asked.gdb() && asked.qmp(); },
         "--gdb and --qmp attach in two ways: give one"},
    Rule{[](const Asked& asked) {
           return asked.settings.no_stop && !asked.qmp() && !asked.engine(EngineKind::kQmp);
         },
         "only a monitor samples without a stop: --no-stop needs --qmp"},
    Rule{[](const Asked& asked) { return asked.settings.leave_stub && !asked.qmp(); },
         "--leave-stub is for a guest that is reached by its monitor: add --qmp"},
    Rule{[](const Asked& asked) { return asked.engine(EngineKind::kGdb) && asked.qmp(); },
         "--qmp goes through the monitor: leave out --engine gdb"},
    Rule{[](const Asked& asked) {
           return !asked.starts_qemu && asked.engine(EngineKind::kTcg) && !asked.ring();
         },
         "--engine tcg is a plugin that QEMU loads when it starts: give its command line behind "
         "--, or --ring FILE where it has loaded it"},
    Rule{[](const Asked& asked) { return !asked.starts_qemu && asked.settings.host_priority; },
         "--host-priority needs a QEMU that ringside starts: -- qemu-system-x86_64 …"},
    Rule{[](const Asked& asked) { return !asked.starts_qemu && asked.settings.deterministic; },
         "--deterministic needs a QEMU that ringside starts: -- qemu-system-x86_64 …"},
    Rule{[](const Asked& asked) {
           return asked.settings.deterministic && asked.settings.delay_s > 0;
         },
         "--delay is the host's time, and with --deterministic the guest waits meanwhile; use "
         "--after TEXT"},
    Rule{[](const Asked& asked) {
           return !asked.starts_qemu && (!asked.settings.after.empty() ||
                                         !asked.settings.until.empty() || asked.settings.then_quit);
         },
         "--after, --until and --then-quit need a QEMU that ringside starts: -- "
         "qemu-system-x86_64 …"},
};

}  // namespace

Result<void> check_usage(const RecordRequest& request) {
  const Asked asked{request.settings, !request.command.empty()};
  const auto* const broken = std::find_if(
      kRules.begin(), kRules.end(), [&asked](const Rule& rule) { return rule.is_broken(asked); });
  if (broken == kRules.end()) return {};
  const std::string_view attach = asked.gdb() ? "--gdb" : asked.ring() ? "--ring" : "--qmp";
  const std::string running = broken == kRules.begin()  // which guest?
                                  ? running_qemus_in_words(request.verb)
                                  : std::string();
  return tl::unexpected<Error>(Error{
      ErrorCode::kUsage, fmt::format(fmt::runtime(broken->message), fmt::arg("verb", request.verb),
                                     fmt::arg("attach", attach),
                                     fmt::arg("engine", name_of(request.settings.engine))) +
                             running});
}

}  // namespace ringside::app
