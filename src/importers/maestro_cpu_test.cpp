#include "importers/maestro_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "recording/sample_visitor.h"

namespace ringside::importers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two samples, byte by byte: {0xc0100010, 0xc0100105, 0xc0100209} and {0xffffffff80000010}.
constexpr unsigned char kTwo[] = {
    3,                                               //
    0x10, 0,    0x10, 0xc0, 0,    0,    0,    0,     //
    0x05, 0x01, 0x10, 0xc0, 0,    0,    0,    0,     //
    0x09, 0x02, 0x10, 0xc0, 0,    0,    0,    0,     //
    1,                                               //
    0x10, 0,    0,    0x80, 0xff, 0xff, 0xff, 0xff,  //
};

Bytes bytes_of(std::span<const unsigned char> data) { return std::as_bytes(data); }

TEST(MaestroCpuReader, ReadsSamplesLeafFirst) {
  MaestroCpuReader reader(bytes_of(kTwo));
  std::vector<GuestVirt> addresses;
  ASSERT_TRUE(*reader.next(addresses));
  EXPECT_THAT(addresses,
              ElementsAre(GuestVirt{0xc0100010}, GuestVirt{0xc0100105}, GuestVirt{0xc0100209}));
  ASSERT_TRUE(*reader.next(addresses));
  EXPECT_THAT(addresses, ElementsAre(GuestVirt{0xffffffff80000010}));
  EXPECT_FALSE(*reader.next(addresses));
}

TEST(MaestroCpuReader, WhatIsCutOrNoneIsAnErrorWithItsOffset) {
  std::vector<GuestVirt> addresses;
  MaestroCpuReader cut(bytes_of(std::span(kTwo).first(30)));
  ASSERT_TRUE(*cut.next(addresses));
  EXPECT_EQ(cut.next(addresses).error().code, ErrorCode::kTruncated);
  for (const int count : {0, 65, 255}) {
    std::vector<unsigned char> data(1 + 8 * 255);
    data[0] = static_cast<unsigned char>(count);
    MaestroCpuReader wrong{bytes_of(data)};
    const auto result = wrong.next(addresses);
    ASSERT_FALSE(result) << count;
    EXPECT_EQ(result.error().code, ErrorCode::kFormat);
    EXPECT_THAT(result.error().message, HasSubstr("offset 0x0"));
  }
}

// The addresses of each recorded stack, leaf first.
class Stacks final : public recording::SampleVisitor {
 public:
  void frame(std::uint32_t, const recording::RecordedFrame& value) override {
    frames_.push_back(value);
  }
  void stack_node(std::uint32_t, const recording::StackNode& value) override {
    nodes_.push_back(value);
  }
  void sample(const recording::Sample& value) override {
    auto& stack = stacks.emplace_back();
    for (std::uint32_t id = value.stacks.at(0).node; id != 0; id = nodes_[id].parent)
      stack.push_back(frames_[nodes_[id].frame].lookup_address().value);
  }
  void statistics(const recording::Statistics& value) override { due = value.due; }

  std::vector<std::vector<std::uint64_t>> stacks;
  std::uint64_t due = 0;

 private:
  std::vector<recording::RecordedFrame> frames_{1};
  std::vector<recording::StackNode> nodes_{1};
};

class MaestroImport : public ::testing::Test {
 protected:
  MaestroImport()
      : path_(std::filesystem::temp_directory_path() /
              ("ringside-maestro-" + std::to_string(::getpid()))) {}
  ~MaestroImport() override { std::filesystem::remove(path_); }

  MaestroResult import(Bytes bytes, const MaestroOptions& options, Stacks& stacks) {
    auto writer = recording::Writer::create(path_, {});
    EXPECT_TRUE(writer);
    auto result = import_maestro_cpu(bytes, options, *writer);
    EXPECT_TRUE(result);
    EXPECT_TRUE(writer->finish());
    auto reader = recording::Reader::open(path_);
    EXPECT_TRUE(reader);
    EXPECT_TRUE(reader->for_each(stacks));
    std::filesystem::remove(path_);
    return *result;
  }
  std::filesystem::path path_;
};

// The leaf is looked up where it is, return addresses at the call before them.
TEST_F(MaestroImport, StacksStayWhole) {
  Stacks stacks;
  const MaestroResult result = import(bytes_of(kTwo), {}, stacks);
  EXPECT_THAT(stacks.stacks, ElementsAre(ElementsAre(0xc0100010, 0xc0100104, 0xc0100208),
                                         ElementsAre(0xffffffff80000010)));
  EXPECT_EQ(result.samples, 2u);
  EXPECT_EQ(result.stacks, 2u);
  EXPECT_EQ(stacks.due, 2u);
  EXPECT_THAT(result.damage, "");
}

// As the original counts: the piece on either side of an unknown frame, and nothing of a sample
// that is unknown altogether.
TEST_F(MaestroImport, CutsAtUnknownFramesWhereThatIsWanted) {
  Stacks stacks;
  const MaestroOptions options{.cut = true, .is_named = [](GuestVirt at) {
                                 return at.value == 0xc0100010 || at.value == 0xc0100208;
                               }};
  const MaestroResult result = import(bytes_of(kTwo), options, stacks);
  EXPECT_THAT(stacks.stacks, ElementsAre(ElementsAre(0xc0100010), ElementsAre(0xc0100208)));
  EXPECT_EQ(result.samples, 2u);
  EXPECT_EQ(result.stacks, 2u);
}

TEST_F(MaestroImport, WhatIsBeforeADamageIsKept) {
  Stacks stacks;
  const MaestroResult result = import(bytes_of(std::span(kTwo).first(30)), {}, stacks);
  EXPECT_EQ(stacks.stacks.size(), 1u);
  EXPECT_THAT(result.damage, HasSubstr("left out"));
}

}  // namespace
}  // namespace ringside::importers
