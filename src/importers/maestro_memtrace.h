#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "importers/format.h"

namespace ringside::importers {

// A call of an allocator of Maestro (maestro-os/maestro @ 3569e232, feature `memtrace`).
struct MemtraceRecord {
  std::string_view allocator;     // in the bytes that were read
  std::uint8_t operation = 0;     // 0 alloc, 1 realloc, 2 free
  std::uint64_t pointer = 0;      // a realloc's is the one before
  std::uint64_t size = 0;         // of "buddy" in pages, of others in bytes
  std::vector<GuestVirt> frames;  // return addresses, leaf first: the first is in the allocator
};

// Records one behind the other, without a header, a mark, a time or a CPU.
class MaestroMemtraceReader {
 public:
  // `bytes` must outlive the reader and its records.
  explicit MaestroMemtraceReader(Bytes bytes) : bytes_(bytes), reader_(bytes) {}

  // Behind the last record that next() gave.
  [[nodiscard]] std::size_t offset() const { return offset_; }
  // The next record; false at the end, and where nothing but zeros follows up to it, as on a disk
  // that was written from its beginning. Errors, after which nothing follows: kTruncated where the
  // file ends inside of a record, kFormat where it cannot be such data. Both have the offset of the
  // record, or of what is wrong in it.
  [[nodiscard]] Result<bool> next(MemtraceRecord& record);

 private:
  [[nodiscard]] Result<void> read(MemtraceRecord& record);

  [[nodiscard]] bool only_zeros_follow();

  Bytes bytes_;
  ByteReader reader_;
  std::size_t zeros_end_ = 0;  // bytes before it were looked at: no zeros alone follow
  std::size_t offset_ = 0;
};

// kFits where the input begins with records of allocators whose names are words, whose frames are
// addresses, and some of the kernel's code where that is known. No text begins so: there are bytes
// of 0 to 2 in each record.
[[nodiscard]] Likeness maestro_memtrace_likeness(const Input& input, const ImportOptions& options);

// Each record is an event of its allocator (recording::GuestEventTables), whose time is its number.
// A realloc's pointers are both the one before: the record has no other.
[[nodiscard]] Result<Imported> import_maestro_memtrace(std::span<const Input> inputs,
                                                       const ImportOptions& options,
                                                       Target& target);

}  // namespace ringside::importers
