#include "cases/capture_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "arch/arch_info.h"
#include "cases/register_names.h"
#include "cases/text_lines.h"

namespace ringside::cases {
namespace {

constexpr std::array<std::string_view, 5> kLevels = {"unknown", "kernel", "user", "firmware",
                                                     "guest"};
constexpr std::array<std::string_view, wire::kPieceKindCount> kPieces = {
    "current-stack", "interrupted-stack", "user-stack", "stack-link", "system"};

template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<std::string_view, N>& names,
                                    std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

// True if `key` is known and `value` right.
bool set_property(wire::Capture& capture, std::string_view key, std::string_view value) {
  if (key == "arch") {
    const auto arch = arch_named(value);
    if (arch) capture.arch = *arch;
    return arch.has_value();
  }
  if (key == "level") {
    const auto level = index_of(kLevels, value);
    if (level) capture.level = static_cast<PrivilegeLevel>(*level);
    return level.has_value();
  }
  const auto number = to_number(value);
  if (!number) return false;
  if (key == "vcpu") {
    capture.vcpu.value = static_cast<std::uint16_t>(*number);
  } else if (key == "time_ns") {
    capture.host_time_ns = *number;
  } else if (key == "weight") {
    capture.weight = *number;
  } else {
    const auto reg = register_number(capture.arch, key);
    if (reg) capture.registers.set(*reg, *number);
    return reg.has_value();
  }
  return true;
}

}  // namespace

std::string registers_text(const wire::Capture& capture) {
  std::string text =
      fmt::format("arch {}\nlevel {}\nvcpu {}\ntime_ns {}\nweight {}\n",
                  arch::name_of(capture.arch), kLevels[static_cast<std::size_t>(capture.level)],
                  capture.vcpu.value, capture.host_time_ns, capture.weight);
  for (std::size_t n = 0; n < arch::kRegisterCount; ++n)
    if (capture.registers.has(n))
      text += fmt::format("{} {:#x}\n", register_name(capture.arch, n), capture.registers.get(n));
  return text;
}

std::string memory_text(const wire::Capture& capture) {
  std::string text = "# address, bytes, what it is, bytes that were asked for\n";
  for (const wire::MemoryPiece& piece : capture.pieces)
    text += fmt::format("{:#x} {} {} {}\n", piece.address.value, piece.size,
                        kPieces[static_cast<std::size_t>(piece.why)], piece.requested);
  return text;
}

Result<wire::Capture> parse_registers(std::string_view text, const std::string& name) {
  wire::Capture capture;
  TextLines lines(text, name);
  while (const auto words = lines.next()) {
    if (words->size() != 2) return lines.error("not 'NAME VALUE'");
    if (!set_property(capture, (*words)[0], (*words)[1]))
      return lines.error(
          fmt::format("unknown name '{}' or wrong value '{}'", (*words)[0], (*words)[1]));
  }
  if (capture.arch == Arch::kUnknown) return lines.error("no line 'arch NAME'");
  return capture;
}

Result<void> parse_memory(std::string_view text, Bytes bytes, const std::string& name,
                          wire::Capture& capture) {
  TextLines lines(text, name);
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max())
    return fail(ErrorCode::kFormat, "{}: its memory is larger than 4 GiB", name);
  std::size_t offset = 0;
  while (const auto words = lines.next()) {
    if (words->size() != 4) return lines.error("not 'ADDRESS SIZE KIND REQUESTED'");
    const auto address = to_number((*words)[0]);
    const auto size = to_number((*words)[1]);
    const auto kind = index_of(kPieces, (*words)[2]);
    const auto requested = to_number((*words)[3]);
    if (!address || !size || !kind || !requested ||
        *requested > std::numeric_limits<std::uint32_t>::max())
      return lines.error("not 'ADDRESS SIZE KIND REQUESTED'");
    if (*size > bytes.size() - offset)
      return fail(ErrorCode::kTruncated, "{}: the piece at {:#x} has {} bytes, {} are left", name,
                  *address, *size, bytes.size() - offset);
    capture.pieces.push_back({{*address},
                              static_cast<wire::PieceKind>(*kind),
                              static_cast<std::uint32_t>(*requested),
                              static_cast<std::uint32_t>(offset),
                              static_cast<std::uint32_t>(*size)});
    offset += *size;
  }
  if (offset != bytes.size())
    return fail(ErrorCode::kTruncated, "{}: {} bytes of memory, its lines tell of {}", name,
                bytes.size(), offset);
  capture.bytes.assign(bytes.begin(), bytes.end());
  return {};
}

}  // namespace ringside::cases
