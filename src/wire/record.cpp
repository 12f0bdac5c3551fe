#include "wire/record.h"

#include <bit>
#include <cstring>

#include "base/little_endian.h"

namespace ringside::wire {
namespace {

enum class RecordKind : std::uint32_t { kPadding = 1, kCapture = 2 };

struct RecordStart {
  std::uint32_t bytes;  // of the whole record
  RecordKind kind;
};

struct CaptureStart {
  RecordStart start;
  std::uint16_t vcpu;
  std::uint8_t arch;
  std::uint8_t level;
  std::uint8_t disposition;
  std::uint8_t padding[3];
  std::uint64_t host_time_ns;
  std::uint64_t pause_ns;
  std::uint64_t weight;
  std::uint64_t valid;  // bit n: register n follows
  std::uint32_t pieces;
  std::uint32_t memory_bytes;
  std::uint64_t reserved;
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

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

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
  if (needed > record.size() || start.arch > static_cast<std::uint8_t>(kLastArch) ||
      start.level > static_cast<std::uint8_t>(kLastPrivilegeLevel) ||
      start.disposition > static_cast<std::uint8_t>(Disposition::kFailed))
    return false;
  capture.vcpu = VcpuId{start.vcpu};
  capture.arch = static_cast<Arch>(start.arch);
  capture.level = static_cast<PrivilegeLevel>(start.level);
  capture.disposition = static_cast<Disposition>(start.disposition);
  capture.host_time_ns = start.host_time_ns;
  capture.pause_ns = start.pause_ns;
  capture.weight = start.weight;
  capture.registers = {};
  for (std::size_t n = 0; n < arch::kRegisterCount; ++n) {
    if ((start.valid >> n & 1u) == 0) continue;
    capture.registers.set(n, load<std::uint64_t>(record, at));
    at += sizeof(std::uint64_t);
  }
  capture.pieces.clear();
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

}  // namespace

std::size_t record_bytes(const Capture& capture) {
  return aligned(sizeof(CaptureStart) +
                 static_cast<std::size_t>(std::popcount(capture.registers.valid)) *
                     sizeof(std::uint64_t) +
                 capture.pieces.size() * sizeof(PieceStart) + capture.bytes.size());
}

void write_record(const Capture& capture, std::span<std::byte> destination) {
  Cursor cursor(destination.data());
  CaptureStart start{};
  start.start = {static_cast<std::uint32_t>(destination.size()), RecordKind::kCapture};
  start.vcpu = capture.vcpu.value;
  start.arch = static_cast<std::uint8_t>(capture.arch);
  start.level = static_cast<std::uint8_t>(capture.level);
  start.disposition = static_cast<std::uint8_t>(capture.disposition);
  start.host_time_ns = capture.host_time_ns;
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

void write_padding(std::span<std::byte> destination) {
  Cursor(destination.data())
      .put(RecordStart{static_cast<std::uint32_t>(destination.size()), RecordKind::kPadding});
}

std::size_t trusted_record_bytes(Bytes bytes) { return load<RecordStart>(bytes, 0).bytes; }

std::uint64_t trusted_record_ticks(Bytes record) {
  const bool is_capture = load<RecordStart>(record, 0).kind == RecordKind::kCapture;
  return is_capture ? load<CaptureStart>(record, 0).weight : 0;
}

bool is_padding(Bytes record) { return load<RecordStart>(record, 0).kind == RecordKind::kPadding; }

std::optional<Record> read_record(Bytes bytes, Capture& capture) {
  if (bytes.size() < sizeof(RecordStart)) return std::nullopt;
  const auto start = load<RecordStart>(bytes, 0);
  if (start.bytes < sizeof(RecordStart) || start.bytes % kRecordAlignment != 0 ||
      start.bytes > bytes.size())
    return std::nullopt;
  if (start.kind == RecordKind::kPadding) return Record{start.bytes, true};
  if (start.kind != RecordKind::kCapture || !read_capture(bytes.first(start.bytes), capture))
    return std::nullopt;
  return Record{start.bytes, false};
}

}  // namespace ringside::wire
