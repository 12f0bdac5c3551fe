#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "recording/block.h"
#include "recording/codec/encode.h"
#include "recording/codec/fields.h"
#include "recording/old_record_test_util.h"
#include "recording/recording_test_util.h"

// Contents that a later version may write without breaking this one.
namespace ringside::recording {
namespace {

using testing::collect;
using testing::Collector;
using testing::sampled;

class Bytestream {
 public:
  explicit Bytestream(std::uint16_t major = kMajorVersion) : bytes_(file_header(major)) {}
  Bytestream& add(BlockKind kind, std::string_view payload) {
    bytes_ += encoder_.encode(kind, sequence_++, payload);
    return *this;
  }
  Reader open() {
    auto reader = Reader::open(as_bytes(bytes_), "new.data");
    EXPECT_TRUE(reader) << reader.error().message;
    return std::move(*reader);
  }
  std::string& bytes() { return bytes_; }

 private:
  BlockEncoder encoder_;
  std::string bytes_;
  std::uint32_t sequence_ = 0;
};

std::string header_record() {
  std::string payload;
  encode(Header{}, payload);
  return payload;
}

std::string sample_record(std::uint64_t time_ns) {
  ContextTable contexts;
  SampleBatch batch;
  batch.source = 1;
  batch.times.push_back(time_ns);
  batch.contexts.push_back(contexts.intern(sampled(time_ns), {}));
  std::string payload;
  encode(contexts, payload);
  encode(batch, payload);
  return payload;
}

std::string old_sample_record(std::uint64_t time_ns) {
  return testing::old_sample_record(sampled(time_ns), WeightUnit::kTicks, {});
}

TEST(Compatibility, UnknownBlockKindsAreSkipped) {
  Bytestream file;
  file.add(BlockKind::kRecords, header_record());
  file.add(static_cast<BlockKind>(77), "no records at all");
  file.add(BlockKind::kRecords, sample_record(1)).add(BlockKind::kEnd, {});
  Reader reader = file.open();
  EXPECT_TRUE(reader.complete()) << reader.damage();
  EXPECT_EQ(collect(reader).samples.size(), 1u);
}

TEST(Compatibility, UnknownRecordsAndFieldsAreSkipped) {
  std::string payload = header_record();
  {
    protozero::pbf_writer records(payload);
    records.add_string(99, "a record of tomorrow");
    records.add_uint64(98, 5);
    records.add_fixed32(97, 5);
    protozero::pbf_writer sample(records, fields::records::kSample);
    sample.add_uint64(fields::sample::kTimeNs, 42);
    sample.add_string(60, "a field of tomorrow");
    sample.add_double(61, 1.5);
    sample.add_uint64(fields::sample::kDisposition, 200);
    sample.add_uint64(fields::sample::kUnit, 200);
    sample.add_uint64(fields::sample::kLevel, 200);
  }
  payload += old_sample_record(43);
  Bytestream file(1);
  file.add(BlockKind::kRecords, payload).add(BlockKind::kEnd, {});
  Reader reader = file.open();
  const Collector seen = collect(reader);
  ASSERT_EQ(seen.samples.size(), 2u);
  EXPECT_EQ(seen.samples[0].info.time_ns, 42u);
  EXPECT_EQ(seen.samples[0].info.disposition, wire::Disposition::kFailed);
  EXPECT_EQ(seen.samples[1].info.time_ns, 43u);
  EXPECT_TRUE(seen.warnings.empty());
  ASSERT_EQ(seen.left.size(), 1u);
  EXPECT_NE(seen.left[0].find("such as 99"), std::string::npos) << seen.left[0];
}

// A later version may add columns and values to a batch of samples.
TEST(Compatibility, UnknownColumnsAndValuesAreSkipped) {
  std::string payload = header_record();
  {
    protozero::pbf_writer records(payload);
    {
      protozero::pbf_writer contexts(records, fields::records::kContexts);
      contexts.add_uint32(fields::contexts::kFirstId, 1);
      const std::uint32_t traits[] = {0xff'ff'ff'ff, 1};
      contexts.add_packed_uint32(fields::contexts::kTraits, traits, traits + 2);
      const std::uint32_t more[] = {1, 2};
      contexts.add_packed_uint32(60, more, more + 2);
    }
    protozero::pbf_writer batch(records, fields::records::kSampleBatch);
    batch.add_uint32(fields::sample_batch::kSource, 1);
    const std::int64_t times[] = {5, -1, 7};  // one more than there are contexts
    batch.add_packed_sint64(fields::sample_batch::kTime, times, times + 3);
    const std::uint32_t contexts[] = {1, 2};
    batch.add_packed_uint32(fields::sample_batch::kContext, contexts, contexts + 2);
    batch.add_packed_uint32(61, contexts, contexts + 2);
  }
  Bytestream file;
  file.add(BlockKind::kRecords, payload).add(BlockKind::kEnd, {});
  Reader reader = file.open();
  const Collector seen = collect(reader);
  ASSERT_EQ(seen.samples.size(), 2u);
  EXPECT_EQ(seen.samples[0].info.time_ns, 5u);
  EXPECT_EQ(seen.samples[0].info.disposition, wire::Disposition::kFailed);
  EXPECT_EQ(seen.samples[0].info.level, PrivilegeLevel::kUnknown);
  EXPECT_EQ(seen.samples[0].info.state, ThreadState::kUnknown);
  EXPECT_EQ(seen.samples[1].info.time_ns, 4u);
  EXPECT_EQ(seen.samples[1].info.level, PrivilegeLevel::kKernel);
  EXPECT_EQ(seen.samples[1].info.weight, 1u);
  EXPECT_EQ(seen.samples[1].info.pause_ns, 0u);
  // The record of the source is missing.
  ASSERT_EQ(seen.sources.size(), 1u);
  EXPECT_EQ(seen.sources[0].name, "cpu");
}

TEST(Compatibility, AFieldOfAnotherTypeIsSkipped) {
  std::string payload = header_record();
  {
    protozero::pbf_writer records(payload);
    protozero::pbf_writer sample(records, fields::records::kSample);
    sample.add_string(fields::sample::kTimeNs, "noon");
    sample.add_uint64(fields::sample::kStack, 3);
    sample.add_uint64(fields::sample::kVcpu, 3);
  }
  Bytestream file(1);
  file.add(BlockKind::kRecords, payload);
  Reader reader = file.open();
  const Collector seen = collect(reader);
  ASSERT_EQ(seen.samples.size(), 1u);
  EXPECT_EQ(seen.samples[0].info.vcpu.value, 3);
}

TEST(Compatibility, AHigherMinorVersionIsRead) {
  Bytestream file;
  file.bytes()[10] = 100;
  file.add(BlockKind::kRecords, header_record()).add(BlockKind::kEnd, {});
  EXPECT_TRUE(file.open().complete());
}

TEST(Compatibility, RecordsThatAreNoMessagesAreAWarning) {
  Bytestream file;
  file.add(BlockKind::kRecords, header_record());
  file.add(BlockKind::kRecords, sample_record(1) + "\xff\xff\xff");
  file.add(BlockKind::kRecords, sample_record(2)).add(BlockKind::kEnd, {});
  Reader reader = file.open();
  const Collector seen = collect(reader);
  EXPECT_EQ(seen.samples.size(), 2u);
  ASSERT_EQ(seen.warnings.size(), 1u);
  EXPECT_EQ(seen.warnings[0].find("new.data: block 1 holds no records"), 0u) << seen.warnings[0];
}

}  // namespace
}  // namespace ringside::recording
