#include "app/record_usage.h"

#include "app/record_session.h"

namespace ringside::app {

using launch::EngineKind;

Result<void> check_usage(const RecordRequest& request) {
  const SamplingSettings& settings = request.settings;
  if (request.command.empty() && !settings.attaches())
    return fail(
        ErrorCode::kUsage,
        "which guest? Start it with 'ringside {0} -- qemu-system-x86_64 …', or attach to a gdb "
        "stub with 'ringside {0} --gdb localhost:1234', to a monitor with --qmp, or to the plugin "
        "with --ring",
        request.verb);
  if (!request.command.empty() && settings.attaches())
    return fail(
        ErrorCode::kUsage,
        "{} attaches to a guest that runs; leave it out where a command line stands behind --",
        !settings.gdb.empty()    ? "--gdb"
        : !settings.ring.empty() ? "--ring"
                                 : "--qmp");
  if (!settings.ring.empty() && !settings.gdb.empty())
    return fail(ErrorCode::kUsage, "--gdb and --ring attach in two ways: give one");
  if (!settings.ring.empty() && settings.engine != EngineKind::kAuto &&
      settings.engine != EngineKind::kTcg)
    return fail(ErrorCode::kUsage, "--ring is the plugin's: leave out --engine {}",
                name_of(settings.engine));
  if (!settings.gdb.empty() && !settings.qmp.empty())
    return fail(ErrorCode::kUsage, "--gdb and --qmp attach in two ways: give one");
  if (settings.no_stop && settings.qmp.empty() && settings.engine != EngineKind::kQmp)
    return fail(ErrorCode::kUsage, "only a monitor samples without a stop: --no-stop needs --qmp");
  if (settings.engine == EngineKind::kGdb && !settings.qmp.empty())
    return fail(ErrorCode::kUsage, "--qmp goes through the monitor: leave out --engine gdb");
  if (request.command.empty() && settings.engine == EngineKind::kTcg && settings.ring.empty())
    return fail(ErrorCode::kUsage,
                "--engine tcg is a plugin that QEMU loads when it starts: give its command line "
                "behind --, or --ring FILE where it has loaded it");
  if (request.command.empty() && settings.deterministic)
    return fail(ErrorCode::kUsage,
                "--deterministic needs a QEMU that ringside starts: -- qemu-system-x86_64 …");
  if (settings.deterministic && settings.delay_s > 0)
    return fail(
        ErrorCode::kUsage,
        "--delay is the host's time, and with --deterministic the guest waits meanwhile; use "
        "--after TEXT");
  if (request.command.empty() &&
      (!settings.after.empty() || !settings.until.empty() || settings.then_quit))
    return fail(ErrorCode::kUsage,
                "--after, --until and --then-quit need a QEMU that ringside starts: -- "
                "qemu-system-x86_64 …");
  return {};
}

}  // namespace ringside::app
