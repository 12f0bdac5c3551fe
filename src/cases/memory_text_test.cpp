#include "cases/memory_text.h"

#include <gtest/gtest.h>

namespace ringside::cases {
namespace {

// Written by hand, in the words of tests/unwind-cases/README.md.
constexpr const char* kText =
    "piece 0x1000 current-stack 104 of 2048\n"
    "0x1000  0123456789abcdef 0000000000000000 0000000000000001 ffffffffffffffff\n"
    "0x1020  zeros 64\n"
    "0x1060  6162636465666768\n"
    "piece 0x2000 stack-link 3 of 8\n"
    "0x2000  696a6b\n"
    "piece 0x3000 user-stack 0 of 64\n";

std::string without_comment(const std::string& text) { return text.substr(text.find('\n') + 1); }

TEST(MemoryText, BytesStandBehindTheirPiece) {
  wire::Capture capture;
  const auto parsed = parse_memory({kText, "memory"}, capture);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(capture.pieces.size(), 3u);
  EXPECT_EQ(capture.pieces[0].why, wire::PieceKind::kCurrentStack);
  EXPECT_EQ(capture.pieces[0].requested, 2048u);
  EXPECT_EQ(capture.pieces[0].size, 104u);
  EXPECT_EQ(capture.pieces[1].why, wire::PieceKind::kStackLink);
  EXPECT_EQ(capture.pieces[2].requested, 64u);
  EXPECT_EQ(capture.bytes.size(), 107u);
  EXPECT_EQ(capture.read<std::uint64_t>({0x1000}), 0xefcdab8967452301u);
  EXPECT_EQ(capture.read<std::uint64_t>({0x1018}), ~std::uint64_t{0});
  EXPECT_EQ(capture.read<std::uint64_t>({0x1058}), 0u);
  EXPECT_EQ(capture.read<std::uint64_t>({0x1060}), 0x6867666564636261u);
  EXPECT_EQ(capture.read<std::uint16_t>({0x2001}), 0x6b6au);
  EXPECT_EQ(without_comment(memory_text(capture)), kText);
}

// Also where zeros begin, end and interrupt lines of 32 bytes.
TEST(MemoryText, IsReadAsItWasWritten) {
  for (std::size_t size = 0; size < 140; size += 7)
    for (std::size_t zeros = 0; zeros < size; zeros += 13)
      for (std::size_t from = 0; from + zeros < size; from += 9) {
        wire::Capture before;
        before.bytes.assign(size, std::byte{0xa5});
        std::fill_n(before.bytes.begin() + static_cast<std::ptrdiff_t>(from), zeros, std::byte{0});
        before.pieces.push_back({{0xffffc90000013ff8},
                                 wire::PieceKind::kSystem,
                                 4096,
                                 0,
                                 static_cast<std::uint32_t>(size)});
        wire::Capture after;
        const auto parsed = parse_memory({memory_text(before), "memory"}, after);
        ASSERT_TRUE(parsed) << parsed.error().message;
        ASSERT_EQ(after.bytes, before.bytes);
        ASSERT_EQ(after.pieces[0].size, size);
      }
}

TEST(MemoryText, HasAWordForEachKind) {
  for (std::size_t kind = 0; kind < wire::kPieceKindCount; ++kind) {
    wire::Capture before;
    before.bytes.resize(8, std::byte{0x11});
    before.pieces.push_back({{0x1000}, static_cast<wire::PieceKind>(kind), 8, 0, 8});
    wire::Capture after;
    ASSERT_TRUE(parse_memory({memory_text(before), "memory"}, after)) << kind;
    EXPECT_EQ(after.pieces.at(0).why, before.pieces[0].why);
  }
}

std::string error_of(std::string_view text) {
  wire::Capture capture;
  const auto parsed = parse_memory({text, "m"}, capture);
  return parsed ? "" : parsed.error().message;
}

TEST(MemoryText, WrongLinesAreNamed) {
  EXPECT_EQ(error_of("0x1000  00\n"), "m:1: bytes before the first line 'piece'");
  const char* const kShape = "m:1: not 'piece ADDRESS KIND SIZE of ASKED-FOR'";
  for (const char* text :
       {"piece 0x1000 heap 8 of 8", "piece 0x1000 system 8 8", "piece x system 8 of 8",
        "piece 0x1000 system 8 of 0x100000000", "piece 0x1000 system 8 of", "piece"})
    EXPECT_EQ(error_of(text), kShape) << text;
  EXPECT_EQ(error_of("piece 0x0 system 0xffffffffffffffff of 8\n"),
            "m:1: more than 16777216 bytes of memory");
  EXPECT_EQ(error_of("piece 0x1000 system 9 of 9\n0x1000  0123456789abcdef\n0x1004  01\n"),
            "m:3: the next bytes are those at 0x1008");
  EXPECT_EQ(error_of("piece 0x1000 system 9 of 9\n0x1000  0123456789abcdef\n\n"),
            "m:2: the piece at 0x1000 ends with 8 of its 9 bytes");
  EXPECT_EQ(error_of("piece 0x1000 system 9 of 9\npiece 0x2000 system 0 of 9\n"),
            "m:2: the piece at 0x1000 ends with 0 of its 9 bytes");
  for (const char* line :
       {"", "0123456789abcdef01", "0", "0g", "x1", "+1", "zeros", "zeros 0", "zeros 9", "zeros x",
        "zeros -1", "00 00 00 00 00", "0123456789abcdef 00"})
    EXPECT_EQ(error_of(fmt::format("piece 0x1000 system 8 of 8\n0x1000 {}\n", line)),
              "m:2: not up to 32 bytes in words of 8, nor 'zeros COUNT', of the 8 bytes left")
        << line;
}

}  // namespace
}  // namespace ringside::cases
