#include "launch/qemu/qemu_version.h"

#include <charconv>

#include "launch/captured_output.h"

namespace ringside::launch {

std::string QemuVersion::to_string() const { return fmt::format("{}.{}.{}", major, minor, patch); }

std::optional<QemuVersion> parse_qemu_version(std::string_view printed) {
  constexpr std::string_view kBefore = "QEMU emulator version ";
  const std::size_t found = printed.find(kBefore);
  if (found == printed.npos) return std::nullopt;
  QemuVersion version;
  const char* at = printed.data() + found + kBefore.size();
  const char* const end = printed.data() + printed.size();
  for (unsigned* const number : {&version.major, &version.minor, &version.patch}) {
    const auto parsed = std::from_chars(at, end, *number);
    if (parsed.ec != std::errc{}) return std::nullopt;
    at = parsed.ptr;
    if (at == end || *at != '.')
      return number == &version.major ? std::nullopt : std::optional(version);
    ++at;
  }
  return version;
}

Result<QemuVersion> ask_qemu_version(const std::string& program,
                                     std::chrono::milliseconds timeout) {
  RINGSIDE_ASSIGN(const std::string printed, capture_output(program, {"-version"}, timeout));
  const auto version = parse_qemu_version(printed);
  if (!version)
    return fail(ErrorCode::kFormat, "'{} -version' prints no version of QEMU's", program);
  return *version;
}

}  // namespace ringside::launch
