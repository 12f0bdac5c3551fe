#include "wire/record.h"

#include <gtest/gtest.h>

#include <array>

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
  const RecordOrigin origin{SourceId::kCode, 0xfffffffe};
  write_record(written, origin, std::span(bytes).first(record_bytes(written)));
  Capture read;
  read.pieces.resize(7);
  const auto record = read_record(bytes, read);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->bytes, record_bytes(written));
  EXPECT_EQ(record->kind, RecordKind::kCapture);
  EXPECT_EQ(record->origin, origin);
  EXPECT_EQ(record->vcpu, written.vcpu);
  EXPECT_EQ(record->level, written.level);
  EXPECT_EQ(record->host_time_ns, written.host_time_ns);
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
  write_record(written, {}, bytes);
  Capture read;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_record(std::span(bytes).first(size), read)) << size;
}

TEST(Record, PiecesBeyondTheMemoryAreRefused) {
  const Capture written = made_up();
  std::vector<std::byte> bytes(record_bytes(written));
  write_record(written, {}, bytes);
  std::byte& first_size = bytes[64 + 16 + 12];
  Capture read;
  for (const int size : {11, 16, 17}) {  // 11 and 3 bytes are one more than there are
    first_size = static_cast<std::byte>(size);
    EXPECT_FALSE(read_record(bytes, read)) << size;
  }
}

template <class T>
void put(std::vector<std::byte>& into, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  into.insert(into.end(), bytes.begin(), bytes.end());
}

// By hand, as FORMAT.md has it.
std::vector<std::byte> event_bytes(std::uint16_t kind, std::size_t values) {
  std::vector<std::byte> bytes;
  put(bytes, static_cast<std::uint32_t>(24 + 8 * values));
  for (const std::uint16_t value : {kind, std::uint16_t{7}, std::uint16_t{2}}) put(bytes, value);
  put(bytes, std::uint8_t{3});  // aarch64
  put(bytes, std::uint8_t{1});  // the kernel
  put(bytes, std::uint32_t{99});
  put(bytes, std::uint64_t{1234});
  for (std::size_t n = 0; n < values; ++n) put(bytes, std::uint64_t{n * n});
  return bytes;
}

TEST(Record, EventsAreAsFormatMdHasThem) {
  const auto bytes = event_bytes(6, 5);
  Capture unused;
  const auto record = read_record(bytes, unused);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, RecordKind::kEvent);
  EXPECT_EQ(record->bytes, 64u);
  EXPECT_EQ(static_cast<unsigned>(record->origin.source), 7u);
  EXPECT_EQ(record->origin.sequence, 99u);
  EXPECT_EQ(record->vcpu, VcpuId{2});
  EXPECT_EQ(record->level, PrivilegeLevel::kKernel);
  EXPECT_EQ(record->host_time_ns, 1234u);
  ASSERT_EQ(record->values(), 5u);
  EXPECT_EQ(record->value(4), 16u);
  const std::array<std::uint64_t, 5> values{0, 1, 4, 9, 16};
  const Event event{VcpuId{2}, Arch::kAArch64, PrivilegeLevel::kKernel, 1234, values};
  std::vector<std::byte> written(record_bytes(event));
  write_record(event, {SourceId{7}, 99}, written);
  EXPECT_EQ(written, bytes);
}

TEST(Record, EventsWithoutEndAndOtherKindsAreRefused) {
  Capture unused;
  EXPECT_TRUE(read_record(event_bytes(6, 0), unused));
  EXPECT_TRUE(read_record(event_bytes(6, kMostEventValues), unused));
  EXPECT_FALSE(read_record(event_bytes(6, kMostEventValues + 1), unused));
  for (const int kind : {0, 4, 7, 0x1006})
    EXPECT_FALSE(read_record(event_bytes(static_cast<std::uint16_t>(kind), 5), unused)) << kind;
  auto bytes = event_bytes(6, 5);
  bytes[0] = std::byte{16};  // shorter than its header
  EXPECT_FALSE(read_record(bytes, unused));
  bytes = event_bytes(6, 5);
  bytes[10] = std::byte{200};  // an architecture
  EXPECT_FALSE(read_record(bytes, unused));
}

TEST(Record, PaddingIsPassedOver) {
  std::vector<std::byte> bytes(24);
  write_padding(bytes);
  Capture read;
  const auto record = read_record(bytes, read);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->is_padding());
  EXPECT_EQ(record->bytes, 24u);
}

}  // namespace
}  // namespace ringside::wire
