#include "symbols/kallsyms/token_table.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ringside::symbols::kallsyms {
namespace {

constexpr std::size_t kCodes = 256;
constexpr std::size_t kMaxToken = 512;  // KSYM_NAME_LEN since Linux 6.1
constexpr std::string_view kDigits{"0\0001\0002\0003\0004\0005\0006\0007\0008\0009\0", 20};

char char_at(Bytes bytes, std::size_t at) { return static_cast<char>(bytes[at]); }

// The start of the token `count` before the one at `at`; nothing where there are too few.
std::optional<std::size_t> back(Bytes bytes, std::size_t at, std::size_t count) {
  for (; count > 0; --count) {
    if (at == 0 || char_at(bytes, at - 1) != '\0') return std::nullopt;
    --at;
    std::size_t length = 0;
    while (at > 0 && char_at(bytes, at - 1) != '\0') {
      --at;
      if (++length > kMaxToken) return std::nullopt;
    }
  }
  return at;
}

// Is there, at `index_at`, the index of the tokens that start at `starts` (1 to 255; the first
// token's start, which nothing precedes, is determined by the index)?
std::optional<std::size_t> first_token(Bytes bytes, std::size_t index_at,
                                       const std::array<std::size_t, kCodes + 1>& starts) {
  std::array<std::uint16_t, kCodes> index;
  if (index_at > bytes.size() || bytes.size() - index_at < sizeof index) return std::nullopt;
  std::memcpy(index.data(), bytes.data() + index_at, sizeof index);
  if (index[0] != 0 || index[1] == 0 || index[1] > starts[1] || index[1] > kMaxToken)
    return std::nullopt;
  const std::size_t begin = starts[1] - index[1];
  for (std::size_t code = 1; code < kCodes; ++code)
    if (starts[code] - begin != index[code]) return std::nullopt;
  return begin;
}

std::optional<TokenTable> table_around(Bytes bytes, std::size_t digits) {
  std::array<std::size_t, kCodes + 1> starts{};
  const auto second = back(bytes, digits, '0' - 1);
  if (!second) return std::nullopt;
  starts[1] = *second;
  for (std::size_t code = 1; code < kCodes; ++code) {
    const std::size_t room = std::min(bytes.size() - starts[code], kMaxToken);
    const void* end = std::memchr(bytes.data() + starts[code], 0, room);
    if (end == nullptr) return std::nullopt;
    starts[code + 1] =
        static_cast<std::size_t>(static_cast<const std::byte*>(end) - bytes.data()) + 1;
  }
  for (const std::size_t alignment : kAlignments) {
    const std::size_t index_at = align_up(starts[kCodes], alignment);
    const auto begin = first_token(bytes, index_at, starts);
    if (!begin) continue;
    starts[0] = *begin;
    TokenTable table{.begin = *begin, .end = index_at + kCodes * 2, .tokens = {}};
    for (std::size_t code = 0; code < kCodes; ++code)
      table.tokens[code] = {reinterpret_cast<const char*>(bytes.data()) + starts[code],
                            starts[code + 1] - starts[code] - 1};
    return table;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TokenTable> find_token_table(Bytes bytes, std::size_t from) {
  while (from < bytes.size()) {
    const void* hit =
        memmem(bytes.data() + from, bytes.size() - from, kDigits.data(), kDigits.size());
    if (hit == nullptr) return std::nullopt;
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(hit) - bytes.data());
    if (auto table = table_around(bytes, at)) return table;
    from = at + 1;
  }
  return std::nullopt;
}

}  // namespace ringside::symbols::kallsyms
