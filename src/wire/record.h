#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_reader.h"
#include "wire/capture.h"

// The records in a ring and in a plugin's file, each with a header of 24 bytes. FORMAT.md
// has the offsets.

namespace ringside::wire {

inline constexpr std::size_t kRecordAlignment = 8;

enum class RecordKind : std::uint16_t {
  kPadding = 1,    // a header of 8 bytes; nothing else counts
  kCapture = 2,    // registers and memory
  kCounts = 3,     // in files (sample_file.h)
  kOldMemory = 4,  // memory in files of version 1, with a header of its own
  kMemory = 5,     // a piece of the guest's memory (sample_file.h)
  kEvent = 6,      // numbers, without registers
};

// Says what a record comes from: see RingSource in ring.h.
enum class SourceId : std::uint16_t {
  kClock = 0,  // the samples
  kCode = 1,   // code around the kernel's pc
};
inline constexpr std::size_t kUsualSources = 2;

// Which of a source's records, on one vCPU, this one is: those that found no room have a number
// too. Wraps. In files of version 1 it is 0 everywhere.
struct RecordOrigin {
  SourceId source = SourceId::kClock;
  std::uint32_t sequence = 0;

  friend bool operator==(const RecordOrigin&, const RecordOrigin&) = default;
};

// A short record: something happened on a vCPU, and these numbers belong to it. Their meaning is
// the source's.
struct Event {
  VcpuId vcpu;
  Arch arch = Arch::kUnknown;
  PrivilegeLevel level = PrivilegeLevel::kUnknown;
  std::uint64_t host_time_ns = 0;  // monotonic clock
  std::span<const std::uint64_t> values;
};
inline constexpr std::size_t kMostEventValues = 256;

// Bytes that the records need; `destination` has as many.
[[nodiscard]] std::size_t record_bytes(const Capture& capture);
void write_record(const Capture& capture, RecordOrigin origin, std::span<std::byte> destination);
[[nodiscard]] std::size_t record_bytes(const Event& event);
void write_record(const Event& event, RecordOrigin origin, std::span<std::byte> destination);

// Fills the rest of a ring's end: at least 8 bytes, a multiple of 8.
void write_padding(std::span<std::byte> destination);

// A whole record by its first bytes, at least 8: for who wrote it. A record that another process
// may have written is read with read_record().
[[nodiscard]] std::size_t trusted_record_bytes(Bytes bytes);
[[nodiscard]] bool is_padding(Bytes record);
// The ticks that a record of the clock's stands for; 0 for other records. In the same way.
[[nodiscard]] std::uint64_t trusted_record_ticks(Bytes record);

struct Record {
  std::size_t bytes = 0;  // of the record, padding included
  RecordKind kind = RecordKind::kPadding;
  RecordOrigin origin;
  VcpuId vcpu;
  PrivilegeLevel level = PrivilegeLevel::kUnknown;
  std::uint64_t host_time_ns = 0;
  Bytes body;  // behind the header; a part of what was read

  [[nodiscard]] bool is_padding() const { return kind == RecordKind::kPadding; }
  // The values of an event.
  [[nodiscard]] std::size_t values() const { return body.size() / sizeof(std::uint64_t); }
  [[nodiscard]] std::uint64_t value(std::size_t n) const {
    return load<std::uint64_t>(body, n * sizeof(std::uint64_t));
  }
};

// Reads the record at the start of `bytes`; a capture goes into `capture`, whose memory is used
// again. Nothing where it is cut, of an unknown kind or makes no sense. The bodies of counts and of
// memory are checked by read_file_record().
[[nodiscard]] std::optional<Record> read_record(Bytes bytes, Capture& capture);

}  // namespace ringside::wire
