#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_reader.h"
#include "wire/capture.h"
#include "wire/record.h"
#include "wire/ring.h"

// The file that the TCG plugin writes where no ringside runs beside QEMU: a header, then records as
// they lie in a ring (wire/record.h), and counts. FORMAT.md describes it. Files of version 1 are
// read too: their records have no sequence, and memory has another header.

namespace ringside::wire {

inline constexpr std::array<char, 8> kSampleFileMagic{'R', 'S', 'T', 'C', 'G', '0', '0', '1'};
inline constexpr std::uint32_t kSampleFileVersion = 2;
inline constexpr std::uint32_t kMostVcpus = 4096;

struct SampleFileHeader {
  std::array<char, 8> magic = kSampleFileMagic;
  std::uint32_t version = kSampleFileVersion;
  std::uint32_t arch = 0;   // an Arch, the machine's
  std::uint32_t vcpus = 0;  // how many there may ever be
  RingClock clock = RingClock::kHostTime;
  std::uint64_t interval = 0;            // nanoseconds or instructions, by the clock
  std::uint64_t start_monotonic_ns = 0;  // of the host's clock, as in records
  std::uint64_t start_wall_ns = 0;       // since 1970-01-01 UTC, at the same moment
  std::uint64_t reserved[2] = {};
};
static_assert(sizeof(SampleFileHeader) == 64);

// A vCPU's ticks since the start that gave no sample, counted by reason (wire/ring.h).
struct VcpuCounts {
  VcpuId vcpu;
  std::uint64_t time_ns = 0;
  std::uint64_t idle = 0;
  std::uint64_t skipped = 0;
  std::uint64_t lost = 0;
  std::uint64_t stolen = 0;
  std::uint64_t delayed = 0;

  [[nodiscard]] bool has_same_counts(const VcpuCounts& other) const {
    return idle == other.idle && skipped == other.skipped && lost == other.lost &&
           stolen == other.stolen && delayed == other.delayed;
  }
};
inline constexpr std::size_t kCountsRecordBytes = 64;
void write_counts_record(const VcpuCounts& counts, std::span<std::byte> destination);

// Bytes that write_memory_record() needs.
[[nodiscard]] std::size_t memory_record_bytes(std::size_t bytes);
// A piece of the guest's virtual memory, as a vCPU saw it.
struct MemoryAt {
  VcpuId vcpu;
  std::uint64_t host_time_ns = 0;  // monotonic clock
  GuestVirt address;
  Bytes memory;
};
void write_memory_record(const MemoryAt& piece, RecordOrigin origin,
                         std::span<std::byte> destination);

struct FileRecord {
  std::size_t bytes = 0;                   // of the record, padding included
  RecordKind kind = RecordKind::kPadding;  // memory is kMemory in files of all versions
  VcpuCounts counts;                       // where it is one of counts
  MemoryAt memory;                         // where it is one of memory; a part of what was read
};

// Does it begin like one, whatever its version?
[[nodiscard]] bool is_sample_file(Bytes file);
// Nothing where it is none, is damaged or of another version.
[[nodiscard]] std::optional<SampleFileHeader> read_sample_file_header(Bytes file);

// Reads the record at the start of `bytes`; a capture goes into `capture`. Nothing where it is cut
// or makes no sense.
[[nodiscard]] std::optional<FileRecord> read_file_record(Bytes bytes, Capture& capture);

}  // namespace ringside::wire
