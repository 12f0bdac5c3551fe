#include "engines/tcg/file_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "wire/record.h"

namespace ringside::engines::tcg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FileEngineTest : public ::testing::Test {
 protected:
  FileEngineTest()
      : path_(std::filesystem::temp_directory_path() /
              ("ringside-file-engine-" + std::to_string(::getpid()))) {
    wire::SampleFileHeader header;
    header.arch = static_cast<std::uint32_t>(Arch::kX86_64);
    header.vcpus = 2;
    header.interval = 1000;
    const auto bytes = std::as_bytes(std::span(&header, 1));
    file_.assign(bytes.begin(), bytes.end());
  }
  ~FileEngineTest() override { std::filesystem::remove(path_); }

  std::span<std::byte> room(std::size_t bytes) {
    file_.resize(file_.size() + bytes);
    return std::span(file_).last(bytes);
  }
  void put_sample(std::uint16_t vcpu, std::uint64_t time_ns, std::uint64_t weight = 1) {
    wire::Capture capture;
    capture.vcpu = VcpuId{vcpu};
    capture.arch = Arch::kX86_64;
    capture.host_time_ns = time_ns;
    capture.weight = weight;
    wire::write_record(capture, {}, room(wire::record_bytes(capture)));
  }
  void put_counts(const wire::VcpuCounts& counts) {
    wire::write_counts_record(counts, room(wire::kCountsRecordBytes));
  }
  Result<std::unique_ptr<FileEngine>> open() {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(file_.data()),
               static_cast<std::streamsize>(file_.size()));
    return FileEngine::open(path_);
  }

  std::filesystem::path path_;
  std::vector<std::byte> file_;
};

TEST_F(FileEngineTest, PlaysSamplesAndCounts) {
  put_sample(0, 30, 2);
  put_sample(1, 20);
  put_counts({VcpuId{1}, 40, 5, 1, 3, 2, 1});
  put_counts({VcpuId{1}, 50, 9, 1, 4, 2, 6});
  const auto engine = open();
  ASSERT_TRUE(engine);
  EXPECT_TRUE((*engine)->tick({})->captures.empty());  // not started yet
  ASSERT_TRUE((*engine)->start({}));
  const auto tick = (*engine)->tick({});
  ASSERT_TRUE(tick);
  std::vector<std::pair<wire::Disposition, std::uint64_t>> seen;
  for (const wire::Capture& capture : tick->captures)
    seen.emplace_back(capture.disposition, capture.weight);
  using enum wire::Disposition;
  EXPECT_THAT(seen,
              ElementsAre(std::pair(kSampled, 1u), std::pair(kSampled, 2u), std::pair(kIdle, 5u),
                          std::pair(kSkipped, 1u), std::pair(kIdle, 4u)));
  EXPECT_EQ((*engine)->tick({}).error().code, ErrorCode::kClosed);
  // 3 sampled, 9 idle, 1 skipped, 4 lost, 2 stolen and 6 delayed.
  EXPECT_EQ((*engine)->counts().due, 25u);
  EXPECT_EQ((*engine)->counts().lost(), 12u);
  EXPECT_EQ((*engine)->counts().stolen, 2u);
  EXPECT_EQ((*engine)->counts().ring_full, 4u);
  EXPECT_EQ((*engine)->counts().delayed, 6u);
  EXPECT_THAT((*engine)->damage(), "");
}

TEST_F(FileEngineTest, AFileThatIsCutGivesWhatIsWhole) {
  put_sample(0, 10);
  const std::size_t whole = file_.size();
  put_sample(0, 20);
  file_.pop_back();
  const auto engine = open();
  ASSERT_TRUE(engine);
  EXPECT_THAT((*engine)->damage(), HasSubstr("byte " + std::to_string(whole)));
  ASSERT_TRUE((*engine)->start({}));
  EXPECT_EQ((*engine)->tick({})->captures.size(), 1u);
  EXPECT_EQ((*engine)->tick({}).error().code, ErrorCode::kClosed);
}

TEST_F(FileEngineTest, AVcpuThatIsNotThereIsDamage) {
  put_counts({VcpuId{2}, 1, 1, 1, 1, 1});
  const auto engine = open();
  ASSERT_TRUE(engine);
  EXPECT_THAT((*engine)->damage(), HasSubstr("byte 64"));
}

TEST_F(FileEngineTest, ReadsTheMemoryThatIsThere) {
  const std::vector<std::byte> first(64, std::byte{1});
  const std::vector<std::byte> second(64, std::byte{2});
  for (const auto& [address, memory] :
       {std::pair(GuestVirt{0x1000}, first), std::pair(GuestVirt{0x1040}, second)})
    wire::write_memory_record({VcpuId{0}, 1, address, memory}, {},
                              room(wire::memory_record_bytes(memory.size())));
  const auto engine = open();
  ASSERT_TRUE(engine);
  EXPECT_THAT((*engine)->code_pages(), ElementsAre(GuestVirt{0x1000}, GuestVirt{0x1040}));
  std::array<std::byte, 100> bytes{};
  EXPECT_EQ(*(*engine)->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0x1020}, bytes), 96u);
  EXPECT_EQ(bytes[31], std::byte{1});
  EXPECT_EQ(bytes[32], std::byte{2});
  EXPECT_EQ(*(*engine)->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0xfff}, bytes), 0u);
}

TEST_F(FileEngineTest, WhatIsNoneIsRefused) {
  file_[0] = std::byte{0};
  EXPECT_EQ(open().error().code, ErrorCode::kFormat);
  file_[0] = std::byte{'R'};
  file_[8] = std::byte{9};
  EXPECT_THAT(open().error().message, HasSubstr("another version"));
}

}  // namespace
}  // namespace ringside::engines::tcg
