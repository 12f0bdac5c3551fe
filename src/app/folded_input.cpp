#include "app/folded_input.h"

#include "app/input_files.h"
#include "app/messages.h"
#include "importers/folded_text.h"

namespace ringside::app {
namespace {

// Options that only a recording has an answer to.
Result<void> check_options(const ReaderSettings& settings) {
  if (!settings.filters() && !settings.no_irq_join && settings.span_ns == 0 &&
      !settings.source_lines && !settings.show_addresses && !settings.show_lines &&
      settings.kernel.empty() && settings.kernel_symbols.empty() && settings.load_bias.empty() &&
      !settings.import.is_given())
    return {};
  return fail(
      ErrorCode::kUsage,
      "{} is folded text, which has names and counts only: -k, -u, -C, --cpu-mask, --comm, --pid, "
      "--tid, --source, --value, --time, --sort time, --sort srcline, "
      "--no-irq-join, --show-lines, --show-addresses, "
      "--kernel, --symbols, --load-bias, --cpu-freq, --context-names and --maestro-cut do "
      "not go with it",
      settings.input());
}

}  // namespace

Result<std::optional<profile::Profile>> open_folded(const ReaderSettings& settings) {
  if (settings.format != kFoldedFormat) return std::nullopt;
  RINGSIDE_TRY(check_options(settings));
  if (settings.inputs.size() > 1)
    return fail(ErrorCode::kUsage,
                "{} is one of several inputs: a profile is made of one folded file; 'cat' adds "
                "several up",
                settings.inputs[1]);
  RINGSIDE_ASSIGN(const auto inputs, open_inputs({settings.input()}));
  const importers::Input& input = inputs.front();
  RINGSIDE_ASSIGN(auto profile,
                  importers::read_folded_text(input.bytes, input.name, settings.symbols.style()));
  for (const std::string& warning : profile.warnings) say("ringside: " + warning);
  if (!profile.damage.empty()) say(fmt::format("ringside: {}: {}", input.name, profile.damage));
  return std::optional(std::move(profile));
}

}  // namespace ringside::app
