#include "wire/record.h"

#include <bit>
#include <cstring>

#include "base/little_endian.h"
#include "wire/record_header.h"

namespace ringside::wire {
namespace {

struct CaptureStart {
  RecordHeader header;
  std::uint64_t pause_ns;
  std::uint64_t weight;
  std::uint64_t valid;  // bit n: register n follows
  std::uint32_t pieces;
  std::uint32_t memory_bytes;
  std::uint8_t disposition;
  std::uint8_t padding[7];
};
static_assert(sizeof(CaptureStart) == 64);

struct PieceStart {
  std::uint64_t address;
  std::uint32_t requested;
  std::uint32_t size;
  std::uint32_t why;
  std::uint32_t tag;
};
static_assert(sizeof(PieceStart) == 24);

// Copies values one after the other; the caller knows that there is room.
class Cursor {
 public:
  explicit Cursor(std::byte* at) : at_(at) {}
  template <class T>
  void put(const T& value) {
    std::memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
  }
  void put(Bytes bytes) {
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  void zero_until(const std::byte* end) {
    std::memset(at_, 0, static_cast<std::size_t>(end - at_));
  }

 private:
  std::byte* at_;
};

bool read_capture(Bytes record, Capture& capture) {
  if (record.size() < sizeof(CaptureStart)) return false;
  const auto start = load<CaptureStart>(record, 0);
  const auto registers = static_cast<std::size_t>(std::popcount(start.valid));
  std::size_t at = sizeof(CaptureStart);
  // Each sum is below 2^33: nothing wraps.
  const std::size_t needed = at + registers * sizeof(std::uint64_t) +
                             std::size_t{start.pieces} * sizeof(PieceStart) + start.memory_bytes;
  if (needed > record.size() || start.disposition > static_cast<std::uint8_t>(Disposition::kFailed))
    return false;
  capture.vcpu = VcpuId{start.header.vcpu};
  capture.arch = static_cast<Arch>(start.header.arch);
  capture.level = static_cast<PrivilegeLevel>(start.header.level);
  capture.disposition = static_cast<Disposition>(start.disposition);
  capture.host_time_ns = start.header.host_time_ns;
  capture.pause_ns = start.pause_ns;
  capture.weight = start.weight;
  capture.registers = {};
  for (std::size_t n = 0; n < arch::kRegisterCount; ++n) {
    if ((start.valid >> n & 1u) == 0) continue;
    capture.registers.set(n, load<std::uint64_t>(record, at));
    at += sizeof(std::uint64_t);
  }
  capture.pieces.clear();
  capture.pieces.reserve(start.pieces);
  std::uint32_t offset = 0;
  for (std::uint32_t n = 0; n < start.pieces; ++n, at += sizeof(PieceStart)) {
    const auto piece = load<PieceStart>(record, at);
    if (piece.why >= kPieceKindCount || piece.size > piece.requested ||
        piece.size > start.memory_bytes - offset)
      return false;
    capture.pieces.push_back({GuestVirt{piece.address}, static_cast<PieceKind>(piece.why),
                              piece.requested, offset, piece.size,
                              static_cast<std::uint16_t>(piece.tag)});
    offset += piece.size;
  }
  const Bytes memory = record.subspan(at, start.memory_bytes);
  capture.bytes.assign(memory.begin(), memory.end());
  return true;
}

// Writes the header that captures and events begin with.
template <class What>
RecordHeader header_of(const What& what, RecordKind kind, RecordOrigin origin, std::size_t bytes) {
  return {static_cast<std::uint32_t>(bytes),
          kind,
          origin.source,
          what.vcpu.value,
          static_cast<std::uint8_t>(what.arch),
          static_cast<std::uint8_t>(what.level),
          origin.sequence,
          what.host_time_ns};
}

}  // namespace

std::size_t record_bytes(const Capture& capture) {
  return aligned_record(sizeof(CaptureStart) +
                        static_cast<std::size_t>(std::popcount(capture.registers.valid)) *
                            sizeof(std::uint64_t) +
                        capture.pieces.size() * sizeof(PieceStart) + capture.bytes.size());
}

void write_record(const Capture& capture, RecordOrigin origin, std::span<std::byte> destination) {
  Cursor cursor(destination.data());
  CaptureStart start{};
  start.header = header_of(capture, RecordKind::kCapture, origin, destination.size());
  start.disposition = static_cast<std::uint8_t>(capture.disposition);
  start.pause_ns = capture.pause_ns;
  start.weight = capture.weight;
  start.valid = capture.registers.valid;
  start.pieces = static_cast<std::uint32_t>(capture.pieces.size());
  start.memory_bytes = static_cast<std::uint32_t>(capture.bytes.size());
  cursor.put(start);
  for (std::size_t n = 0; n < arch::kRegisterCount; ++n)
    if (capture.registers.has(n)) cursor.put(capture.registers.get(n));
  for (const MemoryPiece& piece : capture.pieces)
    cursor.put(PieceStart{piece.address.value, piece.requested, piece.size,
                          static_cast<std::uint32_t>(piece.why), piece.tag});
  cursor.put(Bytes(capture.bytes));
  cursor.zero_until(destination.data() + destination.size());
}

std::size_t record_bytes(const Event& event) {
  return sizeof(RecordHeader) + event.values.size_bytes();
}

void write_record(const Event& event, RecordOrigin origin, std::span<std::byte> destination) {
  Cursor cursor(destination.data());
  cursor.put(header_of(event, RecordKind::kEvent, origin, destination.size()));
  cursor.put(std::as_bytes(event.values));
}

void write_padding(std::span<std::byte> destination) {
  Cursor cursor(destination.data());
  cursor.put(static_cast<std::uint32_t>(destination.size()));
  cursor.put(std::uint32_t{static_cast<std::uint16_t>(RecordKind::kPadding)});
}

std::size_t trusted_record_bytes(Bytes bytes) { return load<std::uint32_t>(bytes, 0); }

bool is_padding(Bytes record) {
  return load<RecordKind>(record, offsetof(RecordHeader, kind)) == RecordKind::kPadding;
}

std::uint64_t trusted_record_ticks(Bytes record) {
  if (is_padding(record)) return 0;
  const auto header = load<RecordHeader>(record, 0);
  if (header.source != SourceId::kClock) return 0;
  if (header.kind == RecordKind::kCapture) return load<CaptureStart>(record, 0).weight;
  // The first value of an event of the clock's.
  return header.kind == RecordKind::kEvent ? load<std::uint64_t>(record, sizeof(RecordHeader)) : 0;
}

std::optional<Record> read_record(Bytes bytes, Capture& capture) {
  if (bytes.size() < kRecordAlignment) return std::nullopt;
  const auto size = load<std::uint32_t>(bytes, 0);
  const auto kind = load<RecordKind>(bytes, offsetof(RecordHeader, kind));
  if (size < kRecordAlignment || size % kRecordAlignment != 0 || size > bytes.size())
    return std::nullopt;
  Record record;
  record.bytes = size;
  record.kind = kind;
  if (record.is_padding()) return record;
  if (size < sizeof(RecordHeader)) return std::nullopt;
  const auto header = load<RecordHeader>(bytes, 0);
  if (header.arch > static_cast<std::uint8_t>(kLastArch) ||
      header.level > static_cast<std::uint8_t>(kLastPrivilegeLevel))
    return std::nullopt;
  record.origin = {header.source, header.sequence};
  record.vcpu = VcpuId{header.vcpu};
  record.level = static_cast<PrivilegeLevel>(header.level);
  record.host_time_ns = header.host_time_ns;
  record.body = bytes.first(size).subspan(sizeof(RecordHeader));
  switch (kind) {
    case RecordKind::kCapture:
      return read_capture(bytes.first(size), capture) ? std::optional(record) : std::nullopt;
    case RecordKind::kEvent:
      return record.values() <= kMostEventValues ? std::optional(record) : std::nullopt;
    case RecordKind::kCounts:
    case RecordKind::kMemory:
      return record;
    case RecordKind::kPadding:
    case RecordKind::kOldMemory:  // it has no such header: sample_file.cpp reads it
      break;
  }
  return std::nullopt;
}

}  // namespace ringside::wire
