#include "wire/sample_file.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/little_endian.h"
#include "wire/record_header.h"

namespace ringside::wire {
namespace {

struct CountsRecord {
  RecordHeader header;
  std::uint64_t idle;
  std::uint64_t skipped;
  std::uint64_t lost;
  std::uint64_t stolen;
  std::uint64_t delayed;
};
static_assert(sizeof(CountsRecord) == kCountsRecordBytes);
constexpr std::size_t kCountsWithoutDelayed = offsetof(CountsRecord, delayed);  // until 2026-11

struct MemoryRecord {
  RecordHeader header;
  std::uint64_t address;
  std::uint64_t size;
};
static_assert(sizeof(MemoryRecord) == 40);

struct OldMemoryRecord {
  std::uint32_t bytes;
  std::uint32_t kind;
  std::uint64_t address;
  std::uint32_t size;
  std::uint32_t padding;
};
static_assert(sizeof(OldMemoryRecord) == 24);

std::optional<FileRecord> read_counts(Bytes record) {
  if (record.size() < kCountsWithoutDelayed) return std::nullopt;
  CountsRecord counts{};
  std::memcpy(&counts, record.data(), std::min(record.size(), sizeof(counts)));
  FileRecord result;
  result.counts = {VcpuId{counts.header.vcpu},
                   counts.header.host_time_ns,
                   counts.idle,
                   counts.skipped,
                   counts.lost,
                   counts.stolen,
                   counts.delayed};
  return result;
}

// The memory of a record that has its address and its size in `Layout`.
template <class Layout>
std::optional<MemoryAt> read_memory(Bytes record) {
  if (record.size() < sizeof(Layout)) return std::nullopt;
  const auto start = load<Layout>(record);
  if (start.size > record.size() - sizeof(Layout)) return std::nullopt;
  MemoryAt result;
  result.address = GuestVirt{start.address};
  result.memory = record.subspan(sizeof(Layout), start.size);
  return result;
}

std::optional<FileRecord> read_old_memory(Bytes bytes) {
  const auto size = load<std::uint32_t>(bytes);
  if (size < kRecordAlignment || size % kRecordAlignment != 0 || size > bytes.size())
    return std::nullopt;
  const auto memory = read_memory<OldMemoryRecord>(bytes.first(size));
  if (!memory) return std::nullopt;
  FileRecord result;
  result.bytes = size;
  result.kind = RecordKind::kMemory;
  result.memory = *memory;
  return result;
}

}  // namespace

void write_counts_record(const VcpuCounts& counts, std::span<std::byte> destination) {
  CountsRecord record{};
  record.header.bytes = kCountsRecordBytes;
  record.header.kind = RecordKind::kCounts;
  record.header.vcpu = counts.vcpu.value;
  record.header.host_time_ns = counts.time_ns;
  record.idle = counts.idle;
  record.skipped = counts.skipped;
  record.lost = counts.lost;
  record.stolen = counts.stolen;
  record.delayed = counts.delayed;
  std::memcpy(destination.data(), &record, sizeof(record));
}

std::size_t memory_record_bytes(std::size_t bytes) {
  return aligned_record(sizeof(MemoryRecord) + bytes);
}

void write_memory_record(const MemoryAt& piece, RecordOrigin origin,
                         std::span<std::byte> destination) {
  MemoryRecord record{};
  record.header.bytes = static_cast<std::uint32_t>(destination.size());
  record.header.kind = RecordKind::kMemory;
  record.header.source = origin.source;
  record.header.sequence = origin.sequence;
  record.header.vcpu = piece.vcpu.value;
  record.header.host_time_ns = piece.host_time_ns;
  record.address = piece.address.value;
  record.size = piece.memory.size();
  std::memset(destination.data(), 0, destination.size());
  std::memcpy(destination.data(), &record, sizeof(record));
  std::memcpy(destination.data() + sizeof(record), piece.memory.data(), piece.memory.size());
}

bool is_sample_file(Bytes file) {
  return file.size() >= kSampleFileMagic.size() &&
         std::memcmp(file.data(), kSampleFileMagic.data(), kSampleFileMagic.size()) == 0;
}

std::optional<SampleFileHeader> read_sample_file_header(Bytes file) {
  if (!is_sample_file(file) || file.size() < sizeof(SampleFileHeader)) return std::nullopt;
  const auto header = load<SampleFileHeader>(file);
  const bool sane = header.version != 0 && header.version <= kSampleFileVersion &&
                    header.arch != 0 && header.arch <= static_cast<std::uint32_t>(kLastArch) &&
                    header.vcpus != 0 && header.vcpus <= kMostVcpus &&
                    header.clock <= RingClock::kInstructions && header.interval != 0;
  return sane ? std::optional(header) : std::nullopt;
}

std::optional<FileRecord> read_file_record(Bytes bytes, Capture& capture) {
  if (bytes.size() < kRecordAlignment) return std::nullopt;
  if (load<RecordKind>(bytes, offsetof(RecordHeader, kind)) == RecordKind::kOldMemory)
    return read_old_memory(bytes);
  const auto record = read_record(bytes, capture);
  if (!record) return std::nullopt;
  std::optional<FileRecord> result = FileRecord{};
  if (record->kind == RecordKind::kCounts) result = read_counts(bytes.first(record->bytes));
  if (record->kind == RecordKind::kMemory) {
    const auto memory = read_memory<MemoryRecord>(bytes.first(record->bytes));
    if (!memory) return std::nullopt;
    result->memory = *memory;
    result->memory.vcpu = record->vcpu;
    result->memory.host_time_ns = record->host_time_ns;
  }
  if (!result) return std::nullopt;
  result->bytes = record->bytes;
  result->kind = record->kind;
  return result;
}

}  // namespace ringside::wire
