#include "plugin/arguments.h"

#include <charconv>
#include <cstdio>
#include <string_view>

#include "wire/recipe.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kNsPerUs = 1000;
constexpr std::uint64_t kMostUs = 1'000'000'000;
constexpr std::uint64_t kDefaultIntervalUs = 1000;
constexpr std::uint64_t kDefaultInstructions = 1'000'000;
constexpr std::uint64_t kMaestroDelayUs = 10;  // maestro-os/kern-profile @ 32f201e4
constexpr std::uint64_t kMostVcpu = 0xffff;

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t least,
                                    std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || value < least || value > most) return std::nullopt;
  return value;
}

// vCPUs such as 0:2-3. QEMU keeps the comma for itself.
std::optional<std::vector<VcpuId>> cpu_list(std::string_view text) {
  std::vector<VcpuId> cpus;
  while (true) {
    const std::string_view range = text.substr(0, text.find(':'));
    const std::size_t dash = range.find('-');
    const auto first = number(range.substr(0, dash), 0, kMostVcpu);
    const auto last = dash == std::string_view::npos
                          ? first
                          : number(range.substr(dash + 1), first.value_or(0), kMostVcpu);
    if (!first || !last) return std::nullopt;
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(VcpuId{static_cast<std::uint16_t>(cpu)});
    if (range.size() == text.size()) return cpus;
    text.remove_prefix(range.size() + 1);
  }
}

class Parser {
 public:
  // False where the argument is not known, or its value no good.
  bool take(std::string_view name, std::string_view value);
  // What goes together? The sentence of what does not, or nothing.
  const char* settle();

  Arguments result;

 private:
  bool take_stand_alone(std::string_view name, std::string_view value);

  StandAlone alone_;
  bool is_alone_ = false;
  bool has_format_ = false;
  std::optional<std::uint64_t> interval_;
  std::optional<std::uint64_t> delay_;
  std::optional<std::uint64_t> start_after_;
};

bool Parser::take(std::string_view name, std::string_view value) {
  if (name == "ring" && !value.empty())
    result.ring = value;
  else if (name == "clock" && value == "time")
    result.clock = wire::RingClock::kHostTime;
  else if (name == "clock" && value == "instructions")
    result.clock = wire::RingClock::kInstructions;
  else if (name == "wait" && (value == "on" || value == "off"))
    result.wait = value == "on";
  else {
    is_alone_ = true;
    return take_stand_alone(name, value);
  }
  return true;
}

bool Parser::take_stand_alone(std::string_view name, std::string_view value) {
  if (name == "out" && !value.empty()) {
    alone_.out = value;
    return true;
  }
  if (name == "out-format" && (value == "ringside" || value == "maestro")) {
    alone_.format = value == "maestro" ? OutFormat::kMaestro : OutFormat::kRingside;
    has_format_ = true;
    return true;
  }
  if (name == "interval") return (interval_ = number(value, 1, kMostUs)).has_value();
  if (name == "delay") return (delay_ = number(value, 1, kMostUs)).has_value();
  if (name == "start-after") return (start_after_ = number(value, 0, kMostUs)).has_value();
  if (name == "stack-bytes") {
    const auto bytes = number(value, 0, wire::kMaxStackBytes);
    alone_.stack_bytes = static_cast<std::uint32_t>(bytes.value_or(0));
    return bytes.has_value();
  }
  if (name == "cpus") {
    auto cpus = cpu_list(value);
    if (cpus) alone_.cpus = std::move(*cpus);
    return cpus.has_value();
  }
  return false;
}

const char* Parser::settle() {
  if (!result.ring.empty()) return is_alone_ ? "ring= goes with clock= and wait= alone" : nullptr;
  if (!is_alone_) return "the plugin needs ring=FILE, or out=FILE to sample without ringside";
  if (result.wait) return "wait=on goes with ring= alone";
  const bool instructions = result.clock == wire::RingClock::kInstructions;
  if (delay_ && !has_format_) alone_.format = OutFormat::kMaestro;
  if (delay_ && alone_.format != OutFormat::kMaestro)
    return "delay= is Maestro's, the microseconds between samples: write interval= for those, "
           "start-after= to wait before the first sample, or out-format=maestro";
  if (delay_ && interval_) return "delay= is the interval in Maestro's format: give one of them";
  if (!interval_) interval_ = delay_;
  if (!interval_ && !instructions && alone_.format == OutFormat::kMaestro)
    interval_ = kMaestroDelayUs;
  if (start_after_ && instructions)
    return "start-after= is a time: it does not go with clock=instructions";
  alone_.start_after_ns = start_after_.value_or(0) * kNsPerUs;
  alone_.interval = instructions ? interval_.value_or(kDefaultInstructions)
                                 : interval_.value_or(kDefaultIntervalUs) * kNsPerUs;
  result.stand_alone = std::move(alone_);
  return nullptr;
}

}  // namespace

std::optional<Arguments> parse_arguments(int count, char** arguments) {
  Parser parser;
  for (int i = 0; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view{} : argument.substr(equals + 1);
    if (parser.take(argument.substr(0, equals), value)) continue;
    std::fprintf(stderr,
                 "ringside: cannot use the plugin's argument '%s'; use ring=FILE[,clock=time|"
                 "instructions][,wait=on], or without ringside out=FILE[,out-format=ringside|"
                 "maestro][,interval=US][,start-after=US][,cpus=0:2-3][,stack-bytes=N][,clock=…]\n",
                 arguments[i]);
    return std::nullopt;
  }
  if (const char* const wrong = parser.settle()) {
    std::fprintf(stderr, "ringside: %s\n", wrong);
    return std::nullopt;
  }
  return std::move(parser.result);
}

}  // namespace ringside::plugin
