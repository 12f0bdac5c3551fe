#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "importers/perf_data/decompression.h"
#include "importers/perf_data/perf_data_test_util.h"
#include "importers/perf_data/record_reader.h"
#include "importers/perf_data/sample_record.h"
#include "importers/perf_data/time_order.h"
#include "importers/perf_data/user_registers.h"
#include "importers/perf_data/user_space.h"

// The parts that need no recording.
namespace ringside::importers::perf_data {
namespace {

using ::testing::ElementsAre;

class Sink final : public RecordSink {
 public:
  Result<void> record(const RawRecord& record) override {
    types.push_back(record.type);
    sizes.push_back(record.body.size());
    return {};
  }
  void progress(std::uint64_t) override {}
  std::vector<std::uint32_t> types;
  std::vector<std::size_t> sizes;
};

// One stream in records of up to `piece` bytes.
std::string compressed(const std::string& records, std::size_t piece) {
  std::string out(ZSTD_compressBound(records.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), records.data(), records.size(), 1));
  std::string all;
  for (std::size_t at = 0; at < out.size(); at += piece)
    all += record(RecordType::kCompressed, 0, Body().bytes(out.substr(at, piece)));
  return all;
}

TEST(PerfDataRecords, OfOneCompressedStreamMayBePartedAnywhere) {
  std::string records;
  for (std::uint32_t i = 0; i < 1000; ++i)
    records += record(i + 100, 0, Body().bytes(std::string(i % 100, static_cast<char>(i))));
  for (const std::size_t piece : {1, 7, 1000, 60000}) {
    Chunks chunks;
    Faults faults;
    Sink sink;
    RecordReader reader(chunks, faults, sink);
    const std::string file = compressed(records, piece);
    ASSERT_TRUE(reader.read(as_bytes(file), 0));
    EXPECT_EQ(faults.count(), 0);
    ASSERT_EQ(sink.types.size(), 1000);
    EXPECT_EQ(sink.types.back(), 1099);
    EXPECT_EQ(sink.sizes[77], 77);
    EXPECT_EQ(chunks.size(), 0);
  }
}

TEST(PerfDataRecords, OfTheSecondKindOfCompressionHaveASize) {
  const std::string inner = record(7, 0, Body().u64(1));
  std::string out(ZSTD_compressBound(inner.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), inner.data(), inner.size(), 1));
  const std::string file = record(RecordType::kCompressed2, 0, Body().u64(out.size()).text(out));
  Chunks chunks;
  Faults faults;
  Sink sink;
  ASSERT_TRUE(RecordReader(chunks, faults, sink).read(as_bytes(file), 0));
  EXPECT_EQ(faults.count(), 0);
  EXPECT_THAT(sink.types, ElementsAre(7));
}

TEST(PerfDataRecords, ThatAreNoZstdAreAFault) {
  const std::string file =
      record(RecordType::kCompressed, 0, Body().bytes("this is no zstd frame at all")) +
      record(7, 0, Body());
  Chunks chunks;
  Faults faults;
  Sink sink;
  ASSERT_TRUE(RecordReader(chunks, faults, sink).read(as_bytes(file), 0));
  EXPECT_EQ(faults.count(), 1);
  EXPECT_THAT(sink.types, ElementsAre(7));
}

TEST(PerfDataRecords, MayNotBecomeGigabytes) {
  const std::string zeros(64 << 20, '\0');
  std::string out(ZSTD_compressBound(zeros.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), zeros.data(), zeros.size(), 1));
  Decompression decompression;
  decompression.give(as_bytes(out));
  std::uint64_t bytes = 0;
  while (true) {
    const auto piece = decompression.next();
    if (!piece || piece->empty()) break;
    EXPECT_LE(piece->size(), 1 << 20);
    bytes += piece->size();
  }
  EXPECT_LE(bytes, 4096 * out.size() + (1 << 20));
}

TEST(PerfDataTimeOrder, HoldsRecordsForTwoRounds) {
  Chunks chunks;
  std::vector<std::uint32_t> left;
  TimeOrder order(chunks, [&](const RawRecord& record) {
    left.push_back(record.type);
    return Result<void>();
  });
  const std::vector<std::string> records = {record(1, 0, Body()), record(2, 0, Body()),
                                            record(3, 0, Body()), record(4, 0, Body())};
  const auto add = [&](std::uint64_t time, std::size_t which) {
    return order.add(time, record_at(as_bytes(records[which]).data(), Chunks::kFile));
  };
  ASSERT_TRUE(add(30, 2));
  ASSERT_TRUE(add(10, 0));
  ASSERT_TRUE(order.finish_round());
  EXPECT_TRUE(left.empty());
  ASSERT_TRUE(add(20, 1));
  ASSERT_TRUE(add(40, 3));
  ASSERT_TRUE(order.finish_round());
  EXPECT_THAT(left, ElementsAre(1, 2, 3));
  ASSERT_TRUE(order.finish());
  EXPECT_THAT(left, ElementsAre(1, 2, 3, 4));
}

// A file whose rounds bring one record each must not take the square of its size.
TEST(PerfDataTimeOrder, BearsManySmallRounds) {
  Chunks chunks;
  std::uint64_t left = 0;
  TimeOrder order(chunks, [&](const RawRecord&) {
    ++left;
    return Result<void>();
  });
  constexpr std::uint64_t kCount = 200000;
  const std::string bytes = record(1, 0, Body());
  const RawRecord one = record_at(as_bytes(bytes).data(), Chunks::kFile);
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_TRUE(order.add(1'000'000'000 - i, one));
  for (std::uint64_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(order.add(1, one));
    ASSERT_TRUE(order.finish_round());
  }
  ASSERT_TRUE(order.finish());
  EXPECT_EQ(left, 2 * kCount);
}

// Fields in the order of perf_event_open(2), each with a value that nothing else has.
TEST(PerfDataSample, HasItsFieldsInTheKernelsOrder) {
  Attribute attribute;
  attribute.sample_type = (1u << 25) - 1;
  attribute.sample_type &= ~sample::kWeight;
  attribute.read_format = read_format::kTimeEnabled | read_format::kTimeRunning | read_format::kId;
  attribute.branch_type = branch::kHardwareIndex;
  attribute.user_registers = 0x5;
  attribute.interrupt_registers = 0x1;
  const std::string body = Body()
                               .words({1, 0x1000})
                               .u32(7)
                               .u32(8)
                               .words({100, 0xadd, 2, 3})
                               .u32(5)
                               .u32(0)
                               .u64(777)
                               .words({10, 11, 12, 13})  // READ
                               .words({2, 0x1000, 0x2000})
                               .u32(4)
                               .bytes("RAW!")
                               .words({1, 99, 0xf, 0xe, 0xd})  // BRANCH_STACK
                               .words({2, 0xaa, 0xbb})         // REGS_USER
                               .words({16, 1, 2, 8})           // STACK_USER
                               .words({20, 21, 22})            // WEIGHT … TRANSACTION
                               .words({1, 0xcc})               // REGS_INTR
                               .words({30, 4242, 40, 41})      // PHYS_ADDR, CGROUP, sizes
                               .words({0})                     // AUX
                               .get();
  SampleRecord sample;
  ASSERT_TRUE(read_sample(as_bytes(body), attribute, sample));
  EXPECT_EQ(sample.ip, 0x1000);
  EXPECT_EQ(sample.pid, 7);
  EXPECT_EQ(sample.tid, 8);
  EXPECT_EQ(sample.time, 100);
  EXPECT_EQ(sample.cpu, 5);
  EXPECT_EQ(sample.period, 777);
  ASSERT_EQ(sample.callchain.size(), 2);
  EXPECT_EQ(sample.callchain[1], 0x2000);
  ASSERT_EQ(sample.branches.size(), 3);
  EXPECT_EQ(sample.branches[0], 0xf);
  EXPECT_EQ(sample.user_registers.abi, 2);
  ASSERT_EQ(sample.user_registers.values.size(), 2);
  EXPECT_EQ(sample.user_registers.values[1], 0xbb);
  EXPECT_EQ(sample.user_stack.size(), 8);
  EXPECT_EQ(sample.user_stack_asked, 16);
  EXPECT_EQ(sample.cgroup, 4242);
  for (std::size_t size = 0; size < body.size() - 3 * 8; ++size)
    EXPECT_FALSE(read_sample(as_bytes(body).first(size), attribute, sample)) << size;
}

TEST(PerfDataSample, MayHaveCountsThatLie) {
  Attribute attribute;
  attribute.sample_type = sample::kCallchain | sample::kBranchStack | sample::kStackUser;
  SampleRecord sample;
  for (const std::uint64_t count : {~std::uint64_t{0}, std::uint64_t{1} << 61, std::uint64_t{3}}) {
    EXPECT_FALSE(read_sample(as_bytes(Body().u64(count).get()), attribute, sample));
    EXPECT_FALSE(read_sample(as_bytes(Body().words({0, count}).get()), attribute, sample));
    EXPECT_FALSE(read_sample(as_bytes(Body().words({0, 0, count}).get()), attribute, sample));
  }
}

// Numbers: arch/x86/include/uapi/asm/perf_regs.h.
TEST(PerfDataRegisters, AreTheUnwindersOnes) {
  const std::string words = Body().words({0xa, 0xb, 0x5, 0x9}).get();
  const SampleRecord::RegisterSet set{2, Words(as_bytes(words))};
  const auto state = user_state(set, 1 | 1 << 1 | 1 << 7 | 1 << 8, Arch::kX86_64);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->registers.get(arch::x86_64::kRax), 0xa);
  EXPECT_EQ(state->registers.get(arch::x86_64::kRbx), 0xb);
  EXPECT_EQ(state->registers.get(arch::x86_64::kRsp), 0x5);
  EXPECT_EQ(state->registers.get(arch::x86_64::kRip), 0x9);
  EXPECT_FALSE(state->registers.has(arch::x86_64::kRcx));
  EXPECT_FALSE(user_state({0, {}}, 1, Arch::kX86_64));
  const auto narrow = user_state({1, set.values}, 1 | 1 << 1 | 1 << 7 | 1 << 8, Arch::kX86_64);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->arch, Arch::kI386);
  EXPECT_EQ(narrow->registers.get(arch::i386::kEip), 0x9);
}

TEST(PerfDataUserSpace, GivesTheNewestMappingOfEachByte) {
  UserSpace space;
  space.map({0x1000, 0x5000, 0x100000, 1});
  space.map({0x2000, 0x3000, 0x200000, 2});
  ASSERT_EQ(space.ranges().size(), 3);
  EXPECT_EQ(space.find(0x1fff)->file, 1);
  EXPECT_EQ(space.find(0x2000)->file, 2);
  EXPECT_EQ(space.find(0x3000)->file, 1);
  EXPECT_EQ(space.find(0x3000)->file_offset, 0x102000);
  EXPECT_EQ(space.find(0x5000), nullptr);
  EXPECT_EQ(space.find(0xfff), nullptr);
  space.unmap(0x2800, 0x4000);
  EXPECT_EQ(space.find(0x27ff)->file, 2);
  EXPECT_EQ(space.find(0x3000), nullptr);
  EXPECT_EQ(space.find(0x4000)->file_offset, 0x103000);
  space.map({0, 0x10000, 0, 3});
  EXPECT_EQ(space.ranges().size(), 1);
  UserSpace other;
  other.map({0, 0x10000, 0, 3});
  EXPECT_EQ(space.number(), other.number());
  other.map({0, 0x10000, 0, 4});
  EXPECT_NE(space.number(), other.number());
}

TEST(PerfDataUserSpace, IsAChildsOwnFromItsFirstChangeOn) {
  UserSpaces spaces;
  spaces.map(1, {0x1000, 0x2000, 0, 1}, true);
  spaces.fork(1, 2);
  EXPECT_EQ(spaces.of(1).number, spaces.of(2).number);
  spaces.map(2, {0x1000, 0x2000, 0, 2}, true);
  EXPECT_EQ(spaces.of(1).space->find(0x1000)->file, 1);
  EXPECT_EQ(spaces.of(2).space->find(0x1000)->file, 2);
  spaces.map(2, {0x1000, 0x2000, 0, 0}, false);
  EXPECT_EQ(spaces.of(2).space->find(0x1000), nullptr);
  EXPECT_EQ(spaces.of(3).number, 0);
}

}  // namespace
}  // namespace ringside::importers::perf_data
