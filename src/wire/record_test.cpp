#include "wire/record.h"

#include <gtest/gtest.h>

namespace ringside::wire {
namespace {

Capture made_up() {
  Capture capture;
  capture.vcpu = VcpuId{3};
  capture.arch = Arch::kAArch64;
  capture.level = PrivilegeLevel::kUser;
  capture.host_time_ns = 0x1122334455667788;
  capture.pause_ns = 17;
  capture.weight = 5;
  capture.registers.set(0, 1);
  capture.registers.set(63, ~std::uint64_t{0});
  for (int i = 0; i < 13; ++i) capture.bytes.push_back(std::byte(i));
  capture.pieces.push_back({GuestVirt{0x1000}, PieceKind::kCurrentStack, 16, 0, 10});
  capture.pieces.push_back({GuestVirt{0x9000}, PieceKind::kUserStack, 3, 10, 3});
  return capture;
}

TEST(Record, IsReadAsItWasWritten) {
  const Capture written = made_up();
  // 64 bytes of header, two registers, two pieces of 24, 13 bytes, up to a multiple of 8.
  ASSERT_EQ(record_bytes(written), 64u + 16 + 48 + 16);
  std::vector<std::byte> bytes(record_bytes(written) + 8);
  write_record(written, std::span(bytes).first(record_bytes(written)));
  Capture read;
  read.pieces.resize(7);
  const auto record = read_record(bytes, read);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->bytes, record_bytes(written));
  EXPECT_FALSE(record->is_padding);
  EXPECT_EQ(read.vcpu, written.vcpu);
  EXPECT_EQ(read.arch, written.arch);
  EXPECT_EQ(read.level, written.level);
  EXPECT_EQ(read.host_time_ns, written.host_time_ns);
  EXPECT_EQ(read.pause_ns, written.pause_ns);
  EXPECT_EQ(read.weight, written.weight);
  EXPECT_EQ(read.registers.valid, written.registers.valid);
  EXPECT_EQ(read.registers.get(63), ~std::uint64_t{0});
  ASSERT_EQ(read.pieces.size(), 2u);
  EXPECT_EQ(read.pieces[0].requested, 16u);
  EXPECT_EQ(read.pieces[1].address, GuestVirt{0x9000});
  EXPECT_EQ(read.bytes_of(read.pieces[1])[0], std::byte{10});
}

TEST(Record, EveryCutIsRefused) {
  const Capture written = made_up();
  std::vector<std::byte> bytes(record_bytes(written));
  write_record(written, bytes);
  Capture read;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_record(std::span(bytes).first(size), read)) << size;
}

TEST(Record, PiecesBeyondTheMemoryAreRefused) {
  const Capture written = made_up();
  std::vector<std::byte> bytes(record_bytes(written));
  write_record(written, bytes);
  std::byte& first_size = bytes[64 + 16 + 12];
  Capture read;
  for (const int size : {11, 16, 17}) {  // 11 and 3 bytes are one more than there are
    first_size = static_cast<std::byte>(size);
    EXPECT_FALSE(read_record(bytes, read)) << size;
  }
}

TEST(Record, PaddingIsPassedOver) {
  std::vector<std::byte> bytes(24);
  write_padding(bytes);
  Capture read;
  const auto record = read_record(bytes, read);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->is_padding);
  EXPECT_EQ(record->bytes, 24u);
}

}  // namespace
}  // namespace ringside::wire
