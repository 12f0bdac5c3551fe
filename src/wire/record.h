#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_reader.h"
#include "wire/capture.h"

// A capture as it lies in a ring or in a plugin's file: a header of 64 bytes, the registers that
// were read, the pieces, their bytes; padded to 8 bytes. FORMAT.md has the offsets.

namespace ringside::wire {

inline constexpr std::size_t kRecordAlignment = 8;

// Bytes that write_record() needs.
[[nodiscard]] std::size_t record_bytes(const Capture& capture);

// `destination` has record_bytes(capture).
void write_record(const Capture& capture, std::span<std::byte> destination);

// Fills the rest of a ring's end: at least 8 bytes, a multiple of 8.
void write_padding(std::span<std::byte> destination);

// A whole record by its first bytes, at least 8: for who wrote it. A record that another process
// may have written is read with read_record().
[[nodiscard]] std::size_t trusted_record_bytes(Bytes bytes);
[[nodiscard]] bool is_padding(Bytes record);
// The ticks that a capture stands for; 0 for other records. In the same way.
[[nodiscard]] std::uint64_t trusted_record_ticks(Bytes record);

struct Record {
  std::size_t bytes = 0;  // of the record, padding included
  bool is_padding = false;
};

// Reads the record at the start of `bytes` into `capture`, whose memory is used again. Nothing
// where it is cut or makes no sense.
[[nodiscard]] std::optional<Record> read_record(Bytes bytes, Capture& capture);

}  // namespace ringside::wire
