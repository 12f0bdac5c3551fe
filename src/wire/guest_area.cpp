#include "wire/guest_area.h"

#include <algorithm>
#include <bit>

#include "base/little_endian.h"
#include "wire/guest_record.h"

namespace ringside::wire {
namespace {

constexpr std::size_t kCheckedFrom = 24;
constexpr std::size_t kCheckedTo = 112;
constexpr std::size_t kNameBytes = 24;

std::string name_at(Bytes header, std::size_t at) {
  const auto* const text = reinterpret_cast<const char*>(header.data() + at);
  return {text, std::find(text, text + kNameBytes, '\0')};
}

// Offsets of what has a length; nothing wraps, as each is limited.
bool is_sound(const GuestArea& area, std::uint64_t cpu_bytes) {
  constexpr std::uint32_t kMostCpus = 4096;
  constexpr std::uint32_t kLeastWords = 1 << 10;
  constexpr std::uint32_t kMostWords = 1 << 28;
  constexpr std::uint64_t kMostOffset = 1 << 20;
  return area.cpus >= 1 && area.cpus <= kMostCpus && std::has_single_bit(area.ring_words) &&
         area.ring_words >= kLeastWords && area.ring_words <= kMostWords &&
         cpu_bytes == GuestArea::kCpuBytes && area.cpus_at >= GuestArea::kHeaderBytes &&
         area.cpus_at % 8 == 0 && area.rings_at % 8 == 0 && area.rings_at <= kMostOffset &&
         area.cpus_at <= area.rings_at && area.cpu_at(area.cpus) <= area.rings_at;
}

}  // namespace

Result<GuestArea> read_guest_area(Bytes header) {
  if (header.size() < GuestArea::kHeaderBytes)
    return fail(ErrorCode::kTruncated, "the header of the guest's rings ends after {} bytes",
                header.size());
  for (std::size_t i = 0; i < kGuestAreaMagic.size(); ++i)
    if (load<std::uint64_t>(header, 8 * i) != kGuestAreaMagic[i])
      return fail(ErrorCode::kNotFound,
                  "the guest's rings do not begin here: their magic is not there");
  if (const auto version = load<std::uint32_t>(header, 16); version != 1)
    return fail(ErrorCode::kUnsupported,
                "the guest's rings have version {}; this ringside reads version 1", version);
  std::uint32_t check = kFirstGuestCheck;
  for (std::size_t at = kCheckedFrom; at < kCheckedTo; at += 8)
    check = mix_guest_check(check, load<std::uint64_t>(header, at));
  if (check != load<std::uint32_t>(header, 20))
    return fail(ErrorCode::kFormat, "the header of the guest's rings has a wrong check");
  GuestArea area;
  const auto arch = load<std::uint8_t>(header, 24);
  const auto mode = load<std::uint8_t>(header, 26);
  area.arch = static_cast<Arch>(arch);
  area.pointer_bytes = load<std::uint8_t>(header, 25);
  area.mode = static_cast<GuestRingMode>(mode);
  area.cpus = load<std::uint32_t>(header, 32);
  area.ring_words = load<std::uint32_t>(header, 36);
  area.self = {load<std::uint64_t>(header, 40)};
  area.clock_hz = load<std::uint64_t>(header, 48);
  area.anchor = {load<std::uint64_t>(header, 56)};
  area.anchor_name = name_at(header, 64);
  area.cpus_at = load<std::uint64_t>(header, 88);
  area.rings_at = load<std::uint64_t>(header, 104);
  const bool is_known = arch >= 1 && arch <= static_cast<std::uint8_t>(kLastArch) && mode <= 1 &&
                        (area.pointer_bytes == 4 || area.pointer_bytes == 8);
  if (!is_known || !is_sound(area, load<std::uint64_t>(header, 96)))
    return fail(ErrorCode::kFormat,
                "the header of the guest's rings makes no sense: architecture {}, {} bytes a "
                "pointer, mode {}, {} CPUs with {} words each at offset {:#x}",
                arch, area.pointer_bytes, mode, area.cpus, area.ring_words, area.rings_at);
  return area;
}

GuestCpuState read_guest_cpu(Bytes state) {
  return {load<std::uint64_t>(state, 0), load<std::uint64_t>(state, 8),
          load<std::uint32_t>(state, 16), load<std::uint32_t>(state, 24),
          load<std::uint32_t>(state, 32)};
}

}  // namespace ringside::wire
