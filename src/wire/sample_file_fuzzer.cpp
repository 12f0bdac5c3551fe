#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/byte_reader.h"
#include "wire/sample_file.h"

// A file that a plugin has written, and somebody else may have changed.

namespace {

using namespace ringside;

void must(bool what) {
  if (!what) std::abort();
}

// A record that was read is the same when it is written and read again.
void check(const wire::FileRecord& record) {
  wire::Capture capture;
  const bool is_memory = record.kind != wire::RecordKind::kCounts;
  std::vector<std::byte> bytes(is_memory ? wire::memory_record_bytes(record.memory.memory.size())
                                         : wire::kCountsRecordBytes);
  if (is_memory)
    wire::write_memory_record(record.memory, {}, bytes);
  else
    wire::write_counts_record(record.counts, bytes);
  const auto again = wire::read_file_record(bytes, capture);
  must(again && again->bytes == bytes.size());
  must(again->counts.has_same_counts(record.counts) && again->counts.vcpu == record.counts.vcpu);
  must(again->memory.address == record.memory.address && again->memory.vcpu == record.memory.vcpu);
  must(std::equal(again->memory.memory.begin(), again->memory.memory.end(),
                  record.memory.memory.begin(), record.memory.memory.end()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  if (!wire::read_sample_file_header(bytes)) return 0;
  bytes = bytes.subspan(sizeof(wire::SampleFileHeader));
  wire::Capture capture;
  while (const auto record = wire::read_file_record(bytes, capture)) {
    must(record->bytes != 0 && record->bytes <= bytes.size());
    for (const wire::MemoryPiece& piece : capture.pieces) (void)capture.bytes_of(piece).size();
    if (record->kind == wire::RecordKind::kMemory || record->kind == wire::RecordKind::kCounts)
      check(*record);
    bytes = bytes.subspan(record->bytes);
  }
  return 0;
}
