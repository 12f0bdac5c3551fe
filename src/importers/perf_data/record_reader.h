#pragma once

#include <cstdint>
#include <functional>

#include "base/byte_reader.h"
#include "base/result.h"
#include "importers/parts/faults.h"
#include "importers/perf_data/chunks.h"
#include "importers/perf_data/decompression.h"

namespace ringside::importers::perf_data {

struct RawRecord {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::uint32_t chunk = Chunks::kFile;  // where it lies
  Bytes body;                           // behind the header of 8 bytes
};

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // The record's bytes stay as long as its chunk is held.
  virtual Result<void> record(const RawRecord& record) = 0;
  // So many bytes of the file are read.
  virtual void progress(std::uint64_t offset) = 0;
};

// A record at `at` and all that belongs to it; nothing where it does not fit.
[[nodiscard]] RawRecord record_at(const std::byte* at, std::uint32_t chunk);

// Takes the records of a file apart, those that are compressed too. Data that is no record, such as
// the traces of processors, is passed over.
class RecordReader {
 public:
  RecordReader(Chunks& chunks, Faults& faults, RecordSink& sink)
      : chunks_(chunks), faults_(faults), sink_(sink) {}

  // All of them; `at` is their offset in the file, for faults. Reading ends at damage. Errors: the
  // sink's.
  [[nodiscard]] Result<void> read(Bytes records, std::uint64_t at);

 private:
  // Returns how many bytes were records that are whole.
  [[nodiscard]] Result<std::size_t> walk(Bytes bytes, std::uint64_t at, std::uint32_t chunk);
  [[nodiscard]] Result<void> decompress(const RawRecord& record, std::uint64_t at);

  Chunks& chunks_;
  Faults& faults_;
  RecordSink& sink_;
  Decompression decompression_;
  bool is_damaged_ = false;
};

}  // namespace ringside::importers::perf_data
