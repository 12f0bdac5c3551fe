#include "app/settings/sampling_settings.h"

#include "app/settings/cpu_list.h"
#include "app/settings/interval.h"

namespace ringside::app {
namespace {

// As many as a kernel's stack has: only a few are copied.
constexpr std::uint32_t kOneShotStackBytes = 16384;

std::uint64_t to_ns(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

}  // namespace

void SamplingSettings::settle(bool has_command) {
  if (!serial.empty() && engine == launch::EngineKind::kAuto) engine = launch::EngineKind::kRing;
  if (engine == launch::EngineKind::kQmp && qmp.empty() && gdb.empty() && !has_command)
    qmp = kQmpSocket;
}

launch::LaunchRequest SamplingSettings::launch_request() const {
  launch::LaunchRequest request;
  request.engine = engine;
  request.taps_serial = !after.empty() || !until.empty();
  request.deterministic = deterministic;
  request.states = states;
  request.seed = seed;
  return request;
}

Result<session::SamplingOptions> SamplingSettings::options() const {
  session::SamplingOptions options;
  if (!interval.empty()) {
    const BareInterval bare = is_osdks             ? BareInterval::kSeconds
                              : rounds.has_value() ? BareInterval::kRefused
                                                   : BareInterval::kMilliseconds;
    RINGSIDE_ASSIGN(options.interval_ns, parse_interval(interval, bare));
  }
  if (frequency) options.interval_ns = to_ns(1 / *frequency);
  options.delay_ns = to_ns(delay_s);
  if (duration_s) options.duration_ns = to_ns(*duration_s);
  options.samples = samples;
  options.rounds = rounds;
  options.kernel = !user_only;
  options.user = !kernel_only;
  options.halted = halted;
  options.states = states;
  options.one_shot = one_shot;
  if (!cpus.empty()) {
    RINGSIDE_ASSIGN(options.vcpus, parse_cpu_list(cpus));
  }
  options.jitter = !no_jitter;
  options.deterministic = deterministic;
  options.seed = seed;
  options.stack_bytes = stack_bytes.value_or(one_shot ? kOneShotStackBytes : options.stack_bytes);
  options.keep_captures = keep_captures;
  options.adapt_stack_bytes = !stack_bytes.has_value();
  return options;
}

}  // namespace ringside::app
