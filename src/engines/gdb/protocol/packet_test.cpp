#include "engines/gdb/protocol/packet.h"

#include <gtest/gtest.h>

#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/protocol/thread_info.h"

namespace ringside::engines::gdb {
namespace {

TEST(Packet, IsFramedWithItsChecksum) {
  std::string out;
  append_packet(out, "g");
  append_packet(out, "D;1");
  EXPECT_EQ(out, "$g#67$D;1#b0");
}

TEST(Packet, IsIncompleteUntilTheLastDigit) {
  const std::string_view whole = "$OK#9a";
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(scan_packet(whole.substr(0, n)).kind, ScanKind::kIncomplete) << n;
  const Scan scan = scan_packet("$OK#9a+$");
  EXPECT_EQ(scan.kind, ScanKind::kPacket);
  EXPECT_EQ(scan.body, "OK");
  EXPECT_EQ(scan.consumed, 6u);
}

TEST(Packet, ReportsWhatElseArrives) {
  EXPECT_EQ(scan_packet("+$OK#9a").kind, ScanKind::kAck);
  EXPECT_EQ(scan_packet("-").kind, ScanKind::kNak);
  EXPECT_EQ(scan_packet("%Stop:T05#00").kind, ScanKind::kNotice);
  EXPECT_EQ(scan_packet("$OK#9b").kind, ScanKind::kBadChecksum);
  EXPECT_EQ(scan_packet("$OK#zz").kind, ScanKind::kBadChecksum);
  EXPECT_EQ(scan_packet("HTTP/1.1 400").kind, ScanKind::kNoise);
  EXPECT_EQ(scan_packet("$" + std::string(kMaxBody + 1, 'a')).kind, ScanKind::kNoise);
}

TEST(Packet, DecodesRunsAndEscapes) {
  EXPECT_EQ(*decode_body("0* "), "0000");  // the manual's example
  EXPECT_EQ(*decode_body("ab*\"c"), "abbbbbbc");
  EXPECT_EQ(*decode_body("a}\x03}]b"), "a#}b");
  EXPECT_FALSE(decode_body("a}"));
  EXPECT_FALSE(decode_body("*!"));
  EXPECT_FALSE(decode_body("a*"));
  EXPECT_FALSE(decode_body("a*\x01"));
}

TEST(Hex, StopsAtWhatIsNotHexadecimal) {
  std::array<std::byte, 4> bytes{};
  EXPECT_EQ(decode_hex("0aFFxx11", bytes), 2u);
  EXPECT_EQ(bytes[1], std::byte{0xff});
  EXPECT_EQ(decode_hex("E14", bytes), 1u);  // callers compare with what they asked for
  EXPECT_EQ(decode_hex("001122334455", bytes), 4u);
  EXPECT_EQ(parse_hex_number("ffff800000000000"), 0xffff800000000000u);
  EXPECT_FALSE(parse_hex_number("12345678123456789"));
  EXPECT_FALSE(parse_hex_number("0x1"));
}

TEST(ThreadInfo, KeepsNamesAsTheStubHasThem) {
  EXPECT_EQ(**parse_thread_list("mp01.01,p01.02"), (std::vector<std::string>{"p01.01", "p01.02"}));
  EXPECT_EQ(**parse_thread_list("m2"), std::vector<std::string>{"2"});
  EXPECT_FALSE(parse_thread_list("l")->has_value());
  EXPECT_FALSE(parse_thread_list("m"));
  EXPECT_FALSE(parse_thread_list("m1,,2"));
  EXPECT_FALSE(parse_thread_list("E01"));
}

TEST(ThreadInfo, FindsNumberAndHaltedState) {
  const auto halted = parse_thread_extra(encode_hex_text("CPU#12 [halted ]"));
  EXPECT_EQ(halted.cpu, 12u);
  EXPECT_TRUE(halted.halted);
  const auto running = parse_thread_extra(encode_hex_text("core0 cpu [running]"));
  EXPECT_FALSE(running.cpu);
  EXPECT_FALSE(running.halted);
  EXPECT_FALSE(parse_thread_extra("E16").halted);
}

}  // namespace
}  // namespace ringside::engines::gdb
