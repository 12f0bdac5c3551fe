#include "app/folded_input.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include "app/messages.h"
#include "base/file.h"
#include "importers/folded_text.h"

namespace ringside::app {
namespace {

constexpr const char* kStandardInput = "-";

Result<std::string> read_standard_input() {
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("standard input");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

// Options that only a recording has an answer to.
Result<void> check_options(const ReaderSettings& settings) {
  if (!settings.filters() && !settings.no_irq_join && !settings.show_addresses &&
      !settings.show_lines && settings.kernel.empty() && settings.kernel_symbols.empty() &&
      settings.load_bias.empty())
    return {};
  return fail(ErrorCode::kUsage,
              "{} is folded text, which has names and counts only: -k, -u, -C, --comm, --pid, "
              "--tid, --source, --value, --time, --no-irq-join, --show-lines, --show-addresses, "
              "--kernel, --symbols and "
              "--load-bias do not go with it",
              settings.input);
}

bool is_folded_pipe(const ReaderSettings& settings) {
  return settings.input == kStandardInput && settings.format != InputFormat::kRecording;
}

using File = Result<std::shared_ptr<const MappedFile>>;

bool is_folded(const ReaderSettings& settings, const File& file) {
  if (settings.format != InputFormat::kAuto) return settings.format == InputFormat::kFolded;
  return file && importers::is_folded_text((*file)->bytes());
}

Result<std::optional<profile::Profile>> read(Bytes bytes, const ReaderSettings& settings) {
  RINGSIDE_TRY(check_options(settings));
  RINGSIDE_ASSIGN(auto profile, importers::read_folded_text(bytes, settings.input));
  if (!profile.damage.empty()) say(fmt::format("ringside: {}: {}", settings.input, profile.damage));
  return std::optional(std::move(profile));
}

}  // namespace

bool is_folded_input(const ReaderSettings& settings) {
  return is_folded_pipe(settings) || is_folded(settings, MappedFile::open(settings.input));
}

Result<std::optional<profile::Profile>> open_folded(const ReaderSettings& settings) {
  if (is_folded_pipe(settings)) {
    RINGSIDE_ASSIGN(const std::string text, read_standard_input());
    ReaderSettings named = settings;
    named.input = "standard input";
    return read(as_bytes(text), named);
  }
  const File file = MappedFile::open(settings.input);
  if (!is_folded(settings, file)) return std::nullopt;
  if (!file) return tl::unexpected<Error>(file.error());
  return read((*file)->bytes(), settings);
}

}  // namespace ringside::app
