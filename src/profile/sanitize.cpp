#include "profile/sanitize.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace ringside::profile {

std::string unknown_name(GuestVirt address) {
  return fmt::format("<unknown:{:#x}>", address.value);
}

std::string unnamed_thread(std::uint32_t tid) { return fmt::format(":{}", tid); }

std::string sanitize(std::string_view name) {
  if (name.empty()) return "[empty name]";
  std::string out = printable_line(name);
  std::replace(out.begin(), out.end(), ';', ':');
  return out;
}

std::string source_place(std::string_view file, std::uint32_t line) {
  file.remove_prefix(file.rfind('/') + 1);
  return fmt::format("{}:{}", sanitize(file), line);
}

std::string with_line(std::string_view name, std::string_view file, std::uint32_t line) {
  return fmt::format("{} {}", name, source_place(file, line));
}

std::string with_address(std::string_view name, GuestVirt address) {
  return fmt::format("{} [{:#x}]", name, address.value);
}

}  // namespace ringside::profile
