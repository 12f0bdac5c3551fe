#include "base/byte_reader.h"
#include "wire/record.h"

// Records out of memory that another process writes.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  wire::Capture capture;
  while (const auto record = wire::read_record(bytes, capture)) {
    for (const wire::MemoryPiece& piece : capture.pieces) (void)capture.bytes_of(piece).size();
    // A record that was read can be written again.
    if (record->kind == wire::RecordKind::kCapture) {
      std::vector<std::byte> again(wire::record_bytes(capture));
      wire::write_record(capture, record->origin, again);
    }
    if (record->kind == wire::RecordKind::kEvent)
      for (std::size_t n = 0; n < record->values(); ++n) (void)record->value(n);
    bytes = bytes.subspan(record->bytes);
  }
  return 0;
}
