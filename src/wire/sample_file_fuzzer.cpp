#include <cstdlib>
#include <cstring>
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
  std::vector<std::byte> bytes(record.kind == wire::FileRecordKind::kMemory
                                   ? wire::memory_record_bytes(record.memory.size())
                                   : wire::kCountsRecordBytes);
  if (record.kind == wire::FileRecordKind::kMemory)
    wire::write_memory_record(record.address, record.memory, bytes);
  else
    wire::write_counts_record(record.counts, bytes);
  const auto again = wire::read_file_record(bytes, capture);
  must(again && again->kind == record.kind && again->bytes == bytes.size());
  must(again->counts.has_same_counts(record.counts) && again->counts.vcpu == record.counts.vcpu);
  must(again->address == record.address && again->memory.size() == record.memory.size());
  must(record.memory.empty() ||
       std::memcmp(again->memory.data(), record.memory.data(), record.memory.size()) == 0);
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
    if (record->kind == wire::FileRecordKind::kMemory ||
        record->kind == wire::FileRecordKind::kCounts)
      check(*record);
    bytes = bytes.subspan(record->bytes);
  }
  return 0;
}
