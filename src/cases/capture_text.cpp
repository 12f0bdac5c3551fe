#include "cases/capture_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "arch/arch_info.h"
#include "cases/register_names.h"

namespace ringside::cases {
namespace {

constexpr std::array<std::string_view, 5> kLevels = {"unknown", "kernel", "user", "firmware",
                                                     "guest"};

// True if `key` is known and `value` right.
bool set_property(wire::Capture& capture, std::string_view key, std::string_view value) {
  if (key == "arch") {
    const Arch arch = arch::arch_named(value);
    if (arch != Arch::kUnknown) capture.arch = arch;
    return arch != Arch::kUnknown;
  }
  if (key == "level") {
    const auto level = std::find(kLevels.begin(), kLevels.end(), value);
    if (level == kLevels.end()) return false;
    capture.level = static_cast<PrivilegeLevel>(level - kLevels.begin());
    return true;
  }
  const auto number = to_number(value);
  if (!number) return false;
  if (key == "vcpu") {
    if (*number > std::numeric_limits<std::uint16_t>::max()) return false;
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

Result<wire::Capture> parse_registers(TextLines lines) {
  wire::Capture capture;
  while (const auto words = lines.next()) {
    if (words->size() != 2) return lines.error("not 'NAME VALUE'");
    if (!set_property(capture, (*words)[0], (*words)[1]))
      return lines.error(
          fmt::format("unknown name '{}' or wrong value '{}'", (*words)[0], (*words)[1]));
  }
  if (capture.arch == Arch::kUnknown) return lines.error("no line 'arch NAME'");
  return capture;
}

}  // namespace ringside::cases
