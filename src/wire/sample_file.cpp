#include "wire/sample_file.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/little_endian.h"
#include "wire/record.h"

namespace ringside::wire {
namespace {

// Numbers that record.cpp does not use.
constexpr std::uint32_t kCountsKind = 3;
constexpr std::uint32_t kMemoryKind = 4;

struct CountsRecord {
  std::uint32_t bytes;
  std::uint32_t kind;
  std::uint16_t vcpu;
  std::uint16_t padding[3];
  std::uint64_t time_ns;
  std::uint64_t idle;
  std::uint64_t skipped;
  std::uint64_t lost;
  std::uint64_t stolen;
  std::uint64_t delayed;
};
static_assert(sizeof(CountsRecord) == kCountsRecordBytes);
constexpr std::size_t kCountsWithoutDelayed = offsetof(CountsRecord, delayed);  // until 2026-11

struct MemoryRecord {
  std::uint32_t bytes;
  std::uint32_t kind;
  std::uint64_t address;
  std::uint32_t size;
  std::uint32_t padding;
};
static_assert(sizeof(MemoryRecord) == 24);

std::optional<FileRecord> read_counts(Bytes record) {
  if (record.size() < kCountsWithoutDelayed) return std::nullopt;
  CountsRecord counts{};
  std::memcpy(&counts, record.data(), std::min(record.size(), sizeof(counts)));
  FileRecord result;
  result.bytes = record.size();
  result.kind = FileRecordKind::kCounts;
  result.counts = {VcpuId{counts.vcpu}, counts.time_ns, counts.idle,   counts.skipped,
                   counts.lost,         counts.stolen,  counts.delayed};
  return result;
}

std::optional<FileRecord> read_memory(Bytes record) {
  if (record.size() < sizeof(MemoryRecord)) return std::nullopt;
  const auto memory = load<MemoryRecord>(record);
  if (memory.size > record.size() - sizeof(MemoryRecord)) return std::nullopt;
  FileRecord result;
  result.bytes = record.size();
  result.kind = FileRecordKind::kMemory;
  result.address = GuestVirt{memory.address};
  result.memory = record.subspan(sizeof(MemoryRecord), memory.size);
  return result;
}

}  // namespace

void write_counts_record(const VcpuCounts& counts, std::span<std::byte> destination) {
  const CountsRecord record{kCountsRecordBytes, kCountsKind,   counts.vcpu.value, {},
                            counts.time_ns,     counts.idle,   counts.skipped,    counts.lost,
                            counts.stolen,      counts.delayed};
  std::memcpy(destination.data(), &record, sizeof(record));
}

std::size_t memory_record_bytes(std::size_t bytes) {
  return (sizeof(MemoryRecord) + bytes + kRecordAlignment - 1) / kRecordAlignment *
         kRecordAlignment;
}

void write_memory_record(GuestVirt address, Bytes memory, std::span<std::byte> destination) {
  const MemoryRecord record{static_cast<std::uint32_t>(destination.size()), kMemoryKind,
                            address.value, static_cast<std::uint32_t>(memory.size()), 0};
  std::memset(destination.data(), 0, destination.size());
  std::memcpy(destination.data(), &record, sizeof(record));
  std::memcpy(destination.data() + sizeof(record), memory.data(), memory.size());
}

bool is_sample_file(Bytes file) {
  return file.size() >= kSampleFileMagic.size() &&
         std::memcmp(file.data(), kSampleFileMagic.data(), kSampleFileMagic.size()) == 0;
}

std::optional<SampleFileHeader> read_sample_file_header(Bytes file) {
  if (!is_sample_file(file) || file.size() < sizeof(SampleFileHeader)) return std::nullopt;
  const auto header = load<SampleFileHeader>(file);
  const bool sane = header.version == kSampleFileVersion && header.arch != 0 &&
                    header.arch <= static_cast<std::uint32_t>(kLastArch) && header.vcpus != 0 &&
                    header.vcpus <= kMostVcpus && header.clock <= RingClock::kInstructions &&
                    header.interval != 0;
  return sane ? std::optional(header) : std::nullopt;
}

std::optional<FileRecord> read_file_record(Bytes bytes, Capture& capture) {
  if (bytes.size() < 2 * sizeof(std::uint32_t)) return std::nullopt;
  const auto size = load<std::uint32_t>(bytes);
  const auto kind = load<std::uint32_t>(bytes.subspan(sizeof(size)));
  if (kind != kCountsKind && kind != kMemoryKind) {
    const auto record = read_record(bytes, capture);
    if (!record) return std::nullopt;
    FileRecord result;
    result.bytes = record->bytes;
    result.kind = record->is_padding ? FileRecordKind::kPadding : FileRecordKind::kCapture;
    return result;
  }
  if (size < 2 * sizeof(size) || size % kRecordAlignment != 0 || size > bytes.size())
    return std::nullopt;
  const Bytes record = bytes.first(size);
  return kind == kCountsKind ? read_counts(record) : read_memory(record);
}

}  // namespace ringside::wire
