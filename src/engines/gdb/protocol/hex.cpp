#include "engines/gdb/protocol/hex.h"

#include <algorithm>

#include "base/text.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (unsigned i = 0; i < 10; ++i) digits['0' + i] = static_cast<std::uint8_t>(i);
  for (unsigned i = 0; i < 6; ++i) {
    digits['a' + i] = static_cast<std::uint8_t>(10 + i);
    digits['A' + i] = static_cast<std::uint8_t>(10 + i);
  }
  return digits;
}

constexpr auto kDigits = make_digits();

unsigned digit_of(char c) { return kDigits[static_cast<unsigned char>(c)]; }

}  // namespace

std::optional<unsigned> hex_digit(char digit) {
  const unsigned value = digit_of(digit);
  if (value == kNoDigit) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_hex_number(std::string_view text) {
  if (text.empty() || text.size() > 16) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text) {
    const unsigned digit = digit_of(c);
    if (digit == kNoDigit) return std::nullopt;
    number = number << 4 | digit;
  }
  return number;
}

std::size_t decode_hex(std::string_view text, std::span<std::byte> destination) {
  const std::size_t count = std::min(text.size() / 2, destination.size());
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned high = digit_of(text[2 * i]);
    const unsigned low = digit_of(text[2 * i + 1]);
    if ((high | low) > 15) return i;
    destination[i] = static_cast<std::byte>(high << 4 | low);
  }
  return count;
}

std::string decode_hex_text(std::string_view text) {
  std::string decoded(text.size() / 2, '\0');
  decoded.resize(decode_hex(text, std::as_writable_bytes(std::span(decoded))));
  return decoded;
}

std::string encode_hex_text(std::string_view text) {
  return hex_text(std::as_bytes(std::span(text)));
}

}  // namespace ringside::engines::gdb
