#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "importers/perf_data/attributes.h"
#include "importers/perf_data/features.h"

namespace ringside::importers::perf_data {

enum class Form : std::uint8_t {
  kNone,
  kFile,       // sections for events, records and features
  kPipe,       // records alone, as `perf record -o -` writes them
  kBigEndian,  // either, of the other byte order
  kFirst,      // of perf before 2.6.39, which nobody writes
};
// By the first bytes.
[[nodiscard]] Form form_of(Bytes bytes);

// All that comes before the records, and where those are.
struct FileHeader {
  Attributes attributes;  // of a pipe: none yet
  Features features;
  std::uint64_t records_at = 0;
  Bytes records;
  std::vector<std::string> warnings;  // sentences without the file's name
};

// Errors: kUnsupported for the other byte order and the first version, kFormat and kTruncated with
// offsets.
[[nodiscard]] Result<FileHeader> read_file_header(Bytes bytes);

}  // namespace ringside::importers::perf_data
