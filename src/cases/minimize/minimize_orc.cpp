#include "cases/minimize/minimize_orc.h"

#include <algorithm>

#include "base/little_endian.h"

namespace ringside::cases {
namespace {

constexpr std::size_t kIpSize = 4;
constexpr std::size_t kRowSize = 6;  // struct orc_entry, arch/x86/include/asm/orc_types.h

ImageAddr ip_at(const elf::Section& ips, std::size_t index) {
  const auto offset = load<std::int32_t>(ips.bytes, index * kIpSize);
  return ips.address + index * kIpSize + static_cast<std::uint64_t>(std::int64_t{offset});
}

}  // namespace

OrcTables minimize_orc(const elf::Section& ips, const elf::Section& rows,
                       std::span<const CodeRange> ranges) {
  OrcTables out;
  const std::size_t count = std::min(ips.bytes.size() / kIpSize, rows.bytes.size() / kRowSize);
  bool behind = false;  // the row before was kept
  for (std::size_t i = 0; i < count; ++i) {
    const ImageAddr ip = ip_at(ips, i);
    const ImageAddr next = i + 1 < count ? ip_at(ips, i + 1) : ip + 1;
    const bool inside = overlaps(ranges, ip, next);
    if (inside || behind) {
      const ImageAddr place = ips.address + out.ips.size();
      const auto offset = static_cast<std::int32_t>(ip - place);
      const Bytes bytes = std::as_bytes(std::span(&offset, 1));
      out.ips.insert(out.ips.end(), bytes.begin(), bytes.end());
      const Bytes row = rows.bytes.subspan(i * kRowSize, kRowSize);
      out.rows.insert(out.rows.end(), row.begin(), row.end());
    }
    behind = inside;
  }
  return out;
}

}  // namespace ringside::cases
