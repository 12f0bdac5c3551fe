#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/record.h"

namespace ringside::wire {

// The first bytes of each record. Padding ends behind its source, which is 0. In files of version 1
// the source and the sequence were zeros.
struct RecordHeader {
  std::uint32_t bytes;  // of the whole record
  RecordKind kind;
  SourceId source;
  std::uint16_t vcpu;
  std::uint8_t arch;
  std::uint8_t level;
  std::uint32_t sequence;
  std::uint64_t host_time_ns;
};
static_assert(sizeof(RecordHeader) == 24);

constexpr std::size_t aligned_record(std::size_t bytes) {
  return (bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

}  // namespace ringside::wire
