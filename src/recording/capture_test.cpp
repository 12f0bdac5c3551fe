#include <gtest/gtest.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "recording/block.h"
#include "recording/codec/encode.h"
#include "recording/codec/fields.h"
#include "recording/recording_test_util.h"

// Raw captures in a recording.
namespace ringside::recording {
namespace {

using testing::collect;
using testing::Collector;
using testing::make_stack;
using testing::sampled;
using testing::slurp;
using testing::TempDir;

void add_piece(wire::Capture& capture, std::uint64_t address, wire::PieceKind why,
               std::string_view content, std::uint32_t requested) {
  const Bytes bytes = as_bytes(content);
  capture.pieces.push_back({{address},
                            why,
                            requested,
                            static_cast<std::uint32_t>(capture.bytes.size()),
                            static_cast<std::uint32_t>(bytes.size())});
  capture.bytes.insert(capture.bytes.end(), bytes.begin(), bytes.end());
}

wire::Capture some_capture(std::uint64_t time_ns) {
  wire::Capture capture;
  capture.vcpu = {3};
  capture.arch = Arch::kAArch64;
  capture.level = PrivilegeLevel::kKernel;
  capture.host_time_ns = time_ns;
  capture.pause_ns = 71'000;
  capture.weight = 0;
  capture.registers.set(0, 0);
  capture.registers.set(arch::aarch64::kPc, 0xffff800008001234);
  capture.registers.set(63, ~std::uint64_t{0});
  add_piece(capture, 0xffff80000a003f00, wire::PieceKind::kCurrentStack, "some stack", 2048);
  add_piece(capture, 0xffff80000a800000, wire::PieceKind::kStackLink, "8 bytes!", 8);
  add_piece(capture, 0, wire::PieceKind::kUserStack, "", 512);
  return capture;
}

void expect_equal(const wire::Capture& a, const wire::Capture& b) {
  EXPECT_EQ(a.vcpu, b.vcpu);
  EXPECT_EQ(a.arch, b.arch);
  EXPECT_EQ(a.level, b.level);
  EXPECT_EQ(a.disposition, b.disposition);
  EXPECT_EQ(a.host_time_ns, b.host_time_ns);
  EXPECT_EQ(a.pause_ns, b.pause_ns);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.registers.valid, b.registers.valid);
  for (std::size_t n = 0; n < arch::kRegisterCount; ++n)
    EXPECT_EQ(a.registers.get(n), b.registers.get(n)) << n;
  ASSERT_EQ(a.pieces.size(), b.pieces.size());
  for (std::size_t i = 0; i < a.pieces.size(); ++i) {
    EXPECT_EQ(a.pieces[i].address, b.pieces[i].address);
    EXPECT_EQ(a.pieces[i].why, b.pieces[i].why);
    EXPECT_EQ(a.pieces[i].requested, b.pieces[i].requested);
    const Bytes left = a.bytes_of(a.pieces[i]);
    const Bytes right = b.bytes_of(b.pieces[i]);
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
  }
}

TEST(Captures, AreReadBackAsTheyWere) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  const Stack stack = make_stack({0x1000});
  ASSERT_TRUE(writer->add_sample(sampled(9, 3), &stack));
  ASSERT_TRUE(writer->add_capture(some_capture(9)));
  wire::Capture bare;  // registers that could not be read
  bare.disposition = wire::Disposition::kFailed;
  ASSERT_TRUE(writer->add_capture(bare));
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  EXPECT_EQ(seen.samples.size(), 1u);
  ASSERT_EQ(seen.captures.size(), 2u);
  expect_equal(seen.captures[0], some_capture(9));
  expect_equal(seen.captures[1], bare);
}

// The bytes that flush() has written are all that a killed writer leaves.
TEST(Captures, AreThereUpToTheLastWholeBlock) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(writer->add_sample(sampled(i), nullptr));
    ASSERT_TRUE(writer->add_capture(some_capture(i)));
    ASSERT_TRUE(writer->flush());
    sizes.push_back(writer->bytes_written());
  }
  const std::string whole = slurp(dir / "a.data");
  const std::string cut = whole.substr(0, sizes[2] - 1);
  auto reader = Reader::open(as_bytes(cut), "cut");
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->complete());
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.captures.size(), 2u);
  expect_equal(seen.captures[1], some_capture(2));
}

TEST(Captures, OfALaterVersionKeepTheirMemory) {
  std::string payload;
  encode(Header{}, payload);
  {
    protozero::pbf_writer records(payload);
    protozero::pbf_writer capture(records, fields::records::kCapture);
    capture.add_uint64(fields::capture::kTimeNs, 5);
    capture.add_uint64(99, 1);
    capture.add_uint64(fields::capture::kArch, 200);
    capture.add_string(fields::capture::kWeight, "much");
    capture.add_fixed64(fields::capture::kValidRegisters, 0b101);
    const std::uint64_t values[] = {7, 8, 9};  // one more than there are valid registers
    capture.add_packed_fixed64(fields::capture::kRegister, values, values + 3);
    protozero::pbf_writer piece(capture, fields::capture::kPiece);
    piece.add_fixed64(fields::capture_piece::kAddress, 0x2000);
    piece.add_uint64(fields::capture_piece::kKind, 77);
    piece.add_bytes(fields::capture_piece::kContent, "12345678");
  }
  BlockEncoder encoder;
  const std::string file = file_header() + encoder.encode(BlockKind::kRecords, 0, payload);
  auto reader = Reader::open(as_bytes(file), "new.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.captures.size(), 1u);
  const wire::Capture& capture = seen.captures[0];
  EXPECT_EQ(capture.arch, Arch::kUnknown);
  EXPECT_EQ(capture.registers.valid, 0b101u);
  EXPECT_EQ(capture.registers.get(0), 7u);
  EXPECT_EQ(capture.registers.get(2), 8u);
  ASSERT_EQ(capture.pieces.size(), 1u);
  EXPECT_EQ(capture.pieces[0].why, wire::PieceKind::kInterruptedStack);
  EXPECT_EQ(capture.read<std::uint64_t>({0x2000}), 0x3837363534333231u);
}

}  // namespace
}  // namespace ringside::recording
