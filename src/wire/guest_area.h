#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "base/types.h"

// The memory of the guest library's rings; GUEST_RING.md has the offsets.
namespace ringside::wire {

enum class GuestRingMode : std::uint8_t { kOverwrite, kDrop };

struct GuestArea {
  Arch arch = Arch::kUnknown;
  std::uint8_t pointer_bytes = 8;
  GuestRingMode mode = GuestRingMode::kOverwrite;
  std::uint32_t cpus = 0;
  std::uint32_t ring_words = 0;  // of 8 bytes
  GuestVirt self;                // as the guest addresses it
  std::uint64_t clock_hz = 0;    // 0: unknown
  GuestVirt anchor;              // 0: none
  std::string anchor_name;
  std::uint64_t cpus_at = 0;  // bytes from the area's start
  std::uint64_t rings_at = 0;

  static constexpr std::size_t kHeaderBytes = 128;
  static constexpr std::size_t kCpuBytes = 64;

  // Bytes from the area's start.
  [[nodiscard]] std::uint64_t cpu_at(std::uint32_t cpu) const { return cpus_at + cpu * kCpuBytes; }
  [[nodiscard]] std::uint64_t ring_at(std::uint32_t cpu) const {
    return rings_at + std::uint64_t{cpu} * ring_words * 8;
  }
  // All of the area.
  [[nodiscard]] std::uint64_t bytes() const { return ring_at(cpus); }

  bool operator==(const GuestArea&) const = default;
};

// The first words of an area in memory.
inline constexpr std::array<std::uint64_t, 2> kGuestAreaMagic = {0x45444953474e4952,
                                                                 0x9d1f6a2be07c4358};

// Reads an area's first GuestArea::kHeaderBytes. Errors: kNotFound where the magic is not there,
// kUnsupported for another version, kFormat.
[[nodiscard]] Result<GuestArea> read_guest_area(Bytes header);

// A CPU's counts. Each is the lower bits of one that never goes back.
struct GuestCpuState {
  std::uint64_t head = 0;     // words, modulo 2^(8 * pointer_bytes)
  std::uint64_t tail = 0;     // the same
  std::uint32_t begun = 0;    // records
  std::uint32_t lost = 0;     // records
  std::uint32_t samples = 0;  // records that were begun and are samples
};

// `state` has GuestArea::kCpuBytes.
[[nodiscard]] GuestCpuState read_guest_cpu(Bytes state);

}  // namespace ringside::wire
