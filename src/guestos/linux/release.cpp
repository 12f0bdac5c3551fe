#include "guestos/linux/release.h"

#include <string_view>

namespace ringside::guestos {

std::string linux_release(const elf::ElfFile& kernel) {
  constexpr std::string_view kStart = "Linux version ";
  constexpr std::size_t kMost = 128;
  const auto banner = kernel.symbol_named("linux_banner");
  const Bytes bytes = banner ? kernel.bytes_at(banner->address, kMost) : Bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kStart)) return {};
  const std::string_view rest = text.substr(kStart.size());
  const std::size_t end = rest.find(' ');
  return end == rest.npos ? std::string() : std::string(rest.substr(0, end));
}

}  // namespace ringside::guestos
