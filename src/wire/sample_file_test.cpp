#include "wire/sample_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "wire/record.h"

namespace ringside::wire {
namespace {

template <class T>
void put(std::vector<std::byte>& into, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  into.insert(into.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> header_bytes(std::uint32_t version, std::uint32_t arch, std::uint32_t vcpus,
                                    std::uint64_t interval) {
  std::vector<std::byte> file;
  for (const char c : {'R', 'S', 'T', 'C', 'G', '0', '0', '1'}) put(file, c);
  for (const std::uint32_t value : {version, arch, vcpus, 0u}) put(file, value);
  for (const std::uint64_t value : {interval, std::uint64_t{7}, std::uint64_t{8}}) put(file, value);
  file.resize(64);
  return file;
}

TEST(SampleFile, ReadsTheHeaderAsFormatMdHasIt) {
  const auto header = read_sample_file_header(header_bytes(2, 2, 4, 1000));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->arch, static_cast<std::uint32_t>(Arch::kI386));
  EXPECT_EQ(header->vcpus, 4u);
  EXPECT_EQ(header->interval, 1000u);
  EXPECT_EQ(header->start_monotonic_ns, 7u);
  EXPECT_EQ(header->start_wall_ns, 8u);
}

TEST(SampleFile, RefusesWhatIsNone) {
  auto cut = header_bytes(1, 1, 1, 1);
  cut.pop_back();
  EXPECT_TRUE(is_sample_file(cut));
  EXPECT_FALSE(read_sample_file_header(cut));
  EXPECT_TRUE(read_sample_file_header(header_bytes(1, 1, 1, 1)));
  EXPECT_FALSE(read_sample_file_header(header_bytes(0, 1, 1, 1)));
  EXPECT_FALSE(read_sample_file_header(header_bytes(3, 1, 1, 1)));
  EXPECT_FALSE(read_sample_file_header(header_bytes(1, 5, 1, 1)));
  EXPECT_FALSE(read_sample_file_header(header_bytes(1, 1, 0, 1)));
  EXPECT_FALSE(read_sample_file_header(header_bytes(1, 1, 4097, 1)));
  EXPECT_FALSE(read_sample_file_header(header_bytes(1, 1, 1, 0)));
}

TEST(SampleFile, ReadsCountsByHand) {
  std::vector<std::byte> record;
  for (const std::uint32_t value : {64u, 3u}) put(record, value);
  put(record, std::uint64_t{2});  // the vCPU, padded
  for (const std::uint64_t value : {10, 20, 30, 40, 50, 60}) put(record, value);
  Capture capture;
  const auto read = read_file_record(record, capture);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, RecordKind::kCounts);
  EXPECT_EQ(read->bytes, 64u);
  EXPECT_EQ(read->counts.vcpu, VcpuId{2});
  EXPECT_EQ(read->counts.time_ns, 10u);
  EXPECT_EQ(read->counts.idle, 20u);
  EXPECT_EQ(read->counts.skipped, 30u);
  EXPECT_EQ(read->counts.lost, 40u);
  EXPECT_EQ(read->counts.stolen, 50u);
  EXPECT_EQ(read->counts.delayed, 60u);
  std::vector<std::byte> written(kCountsRecordBytes);
  write_counts_record(read->counts, written);
  EXPECT_EQ(written, record);
}

TEST(SampleFile, OlderFilesDoNotCountDelayedTicks) {
  std::vector<std::byte> record;
  for (const std::uint32_t value : {56u, 3u}) put(record, value);
  for (const std::uint64_t value : {2, 10, 20, 30, 40, 50}) put(record, value);
  Capture capture;
  const auto read = read_file_record(record, capture);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, 56u);
  EXPECT_EQ(read->counts.stolen, 50u);
  EXPECT_EQ(read->counts.delayed, 0u);
}

TEST(SampleFile, ReadsMemoryAndRefusesWhatIsCut) {
  const std::vector<std::byte> memory(13, std::byte{0x90});
  std::vector<std::byte> record(memory_record_bytes(memory.size()));
  ASSERT_EQ(record.size(), 56u);
  write_memory_record({VcpuId{3}, 17, GuestVirt{0xffffffff81000000}, memory}, {SourceId::kCode, 5},
                      record);
  Capture capture;
  const auto read = read_file_record(record, capture);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, RecordKind::kMemory);
  EXPECT_EQ(read->memory.vcpu, VcpuId{3});
  EXPECT_EQ(read->memory.host_time_ns, 17u);
  EXPECT_EQ(read->memory.address, GuestVirt{0xffffffff81000000});
  const Bytes found = read->memory.memory;
  EXPECT_TRUE(std::equal(found.begin(), found.end(), memory.begin(), memory.end()));
  for (std::size_t size = 0; size < record.size(); ++size)
    EXPECT_FALSE(read_file_record(Bytes(record).first(size), capture)) << size;
  record[32] = std::byte{17};  // more than the record holds
  EXPECT_FALSE(read_file_record(record, capture));
}

TEST(SampleFile, ReadsMemoryOfVersion1) {
  std::vector<std::byte> record;
  for (const std::uint32_t value : {40u, 4u}) put(record, value);
  put(record, std::uint64_t{0xffffffff81000000});
  for (const std::uint32_t value : {13u, 0u}) put(record, value);
  record.resize(40, std::byte{0x90});
  Capture capture;
  const auto read = read_file_record(record, capture);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, 40u);
  EXPECT_EQ(read->memory.address, GuestVirt{0xffffffff81000000});
  EXPECT_EQ(read->memory.memory.size(), 13u);
  record[16] = std::byte{17};  // more than the record holds
  EXPECT_FALSE(read_file_record(record, capture));
  record[4] = std::byte{5};  // of version 2: its address and its size are missing
  EXPECT_FALSE(read_file_record(record, capture));
}

TEST(SampleFile, ReadsTheRecordsOfRings) {
  Capture sample;
  sample.arch = Arch::kX86_64;
  sample.weight = 3;
  std::vector<std::byte> record(record_bytes(sample));
  write_record(sample, {}, record);
  Capture capture;
  const auto read = read_file_record(record, capture);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, RecordKind::kCapture);
  EXPECT_EQ(capture.weight, 3u);
}

}  // namespace
}  // namespace ringside::wire
