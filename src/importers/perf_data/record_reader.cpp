#include "importers/perf_data/record_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/byte_cursor.h"
#include "formats/perf_data.h"

namespace ringside::importers::perf_data {

using namespace formats::perf_data;
namespace {

constexpr std::size_t kHeaderSize = 8;

// Bytes behind a record that belong to it.
std::uint64_t tail_of(const RawRecord& record) {
  ByteCursor cursor(record.body);
  if (record.type == static_cast<std::uint32_t>(RecordType::kAuxtrace))
    return cursor.read<std::uint64_t>();
  if (record.type == static_cast<std::uint32_t>(RecordType::kTracingData))
    return (std::uint64_t{cursor.read<std::uint32_t>()} + 7) / 8 * 8;
  return 0;
}

bool is_compressed(const RawRecord& record) {
  return record.type == static_cast<std::uint32_t>(RecordType::kCompressed) ||
         record.type == static_cast<std::uint32_t>(RecordType::kCompressed2);
}

// Without the size and padding that the second kind has.
Bytes compressed_bytes(const RawRecord& record) {
  if (record.type == static_cast<std::uint32_t>(RecordType::kCompressed)) return record.body;
  ByteCursor cursor(record.body);
  const auto size = cursor.read<std::uint64_t>();
  return cursor.read_bytes(std::min<std::uint64_t>(size, cursor.remaining()));
}

}  // namespace

RawRecord record_at(const std::byte* at, std::uint32_t chunk) {
  ByteCursor cursor(Bytes(at, kHeaderSize));
  RawRecord record;
  record.type = cursor.read<std::uint32_t>();
  record.misc = cursor.read<std::uint16_t>();
  const std::size_t size = cursor.read<std::uint16_t>();
  record.chunk = chunk;
  record.body = Bytes(at + kHeaderSize, size - kHeaderSize);
  return record;
}

Result<void> RecordReader::read(Bytes records, std::uint64_t at) {
  RINGSIDE_ASSIGN(const std::size_t whole, walk(records, at, Chunks::kFile));
  if (!is_damaged_ && whole < records.size())
    faults_.add(at + whole,
                fmt::format("a record is cut: {} bytes are left of it", records.size() - whole));
  return {};
}

Result<std::size_t> RecordReader::walk(Bytes bytes, std::uint64_t at, std::uint32_t chunk) {
  const bool is_file = chunk == Chunks::kFile;
  std::size_t done = 0;
  while (bytes.size() - done >= kHeaderSize && !is_damaged_) {
    const std::size_t size = ByteCursor(bytes, done + 6).read<std::uint16_t>();
    if (size < kHeaderSize) {
      faults_.add(is_file ? at + done : at,
                  fmt::format("a record of {} bytes, which has 8 at least; nothing behind it is "
                              "read",
                              size));
      is_damaged_ = true;
      return done;
    }
    if (bytes.size() - done < size) return done;
    const RawRecord record = record_at(bytes.data() + done, chunk);
    const std::uint64_t left = bytes.size() - done - size;
    if (is_compressed(record)) {
      if (is_file) {
        RINGSIDE_TRY(decompress(record, at + done));
      } else {
        faults_.add(at, "a compressed record in a compressed record");
      }
    } else {
      RINGSIDE_TRY(sink_.record(record));
    }
    const std::uint64_t tail = is_file ? tail_of(record) : 0;
    if (tail > left) {
      faults_.add(at + done, fmt::format("{} bytes of data behind a record, of which {} are left",
                                         tail, left));
      is_damaged_ = true;
      return done;
    }
    done += size + tail;
    if (is_file) sink_.progress(at + done);
  }
  return done;
}

Result<void> RecordReader::decompress(const RawRecord& record, std::uint64_t at) {
  decompression_.give(compressed_bytes(record));
  while (!is_damaged_) {
    auto bytes = decompression_.next();
    if (!bytes) {
      faults_.add(at, bytes.error().message);
      return {};
    }
    if (bytes->empty()) return {};
    const std::uint32_t chunk = chunks_.add(std::move(*bytes));
    const Bytes all = chunks_.bytes(chunk);
    const auto whole = walk(all, at, chunk);
    if (whole) decompression_.keep(all.subspan(*whole));
    chunks_.release(chunk);
    if (!whole) return tl::unexpected<Error>(whole.error());
  }
  return {};
}

}  // namespace ringside::importers::perf_data
