#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ringside::engines::gdb {

// The value of one hexadecimal digit, nothing for another character.
[[nodiscard]] std::optional<unsigned> hex_digit(char digit);

// A whole text of hexadecimal digits as a number, without "0x".
[[nodiscard]] std::optional<std::uint64_t> parse_hex_number(std::string_view text);

// Decodes pairs of digits into `destination` until either of them ends or a pair is not hexadecimal
// (a stub writes "xx" for bytes it cannot give). Returns the number of bytes written.
[[nodiscard]] std::size_t decode_hex(std::string_view text, std::span<std::byte> destination);

// Text that a stub sends as pairs of digits, up to the first pair that is not hexadecimal.
[[nodiscard]] std::string decode_hex_text(std::string_view text);
[[nodiscard]] std::string encode_hex_text(std::string_view text);

}  // namespace ringside::engines::gdb
