#include "cases/memory_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>

#include "base/zeros.h"

namespace ringside::cases {
namespace {

using Words = std::span<const std::string_view>;

constexpr auto kKinds = std::to_array<std::string_view>(
    {"current-stack", "interrupted-stack", "user-stack", "stack-link", "system", "value",
     "kernel-frames", "user-frames", "task"});
static_assert(kKinds.size() == wire::kPieceKindCount);
constexpr std::string_view kZeros = "zeros";
constexpr std::size_t kLineBytes = 32;
constexpr std::size_t kWordBytes = 8;

// How many bytes from the start of `bytes` on are lines of zeros, the last one perhaps a short one.
std::size_t zero_lines(Bytes bytes) {
  std::size_t size = 0;
  while (size < bytes.size()) {
    const Bytes line = bytes.subspan(size, std::min(kLineBytes, bytes.size() - size));
    if (!is_zero(line)) break;
    size += line.size();
  }
  return size;
}

std::string words_text(Bytes line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at)
    text += fmt::format("{}{:02x}", at % kWordBytes == 0 ? " " : "",
                        std::to_integer<unsigned>(line[at]));
  return text;
}

std::string bytes_text(GuestVirt address, Bytes bytes) {
  std::string text;
  while (!bytes.empty()) {
    std::size_t size = zero_lines(bytes);
    if (size > 0) {
      text += fmt::format("{:#x}  {} {}\n", address.value, kZeros, size);
    } else {
      size = std::min(kLineBytes, bytes.size());
      text += fmt::format("{:#x} {}\n", address.value, words_text(bytes.first(size)));
    }
    address = address + size;
    bytes = bytes.subspan(size);
  }
  return text;
}

// Adds the bytes of one word of hexadecimal digits; false if it is none.
bool add_bytes(std::string_view word, std::vector<std::byte>& bytes) {
  if (word.size() % 2 != 0 || word.size() > 2 * kWordBytes) return false;
  for (std::size_t at = 0; at < word.size(); at += 2) {
    std::uint8_t value = 0;
    const char* const end = word.data() + at + 2;
    const auto [behind, error] = std::from_chars(end - 2, end, value, 16);
    if (error != std::errc{} || behind != end) return false;
    bytes.push_back(std::byte{value});
  }
  return true;
}

class Parser {
 public:
  Parser(TextLines lines, wire::Capture& capture) : lines_(std::move(lines)), capture_(capture) {}

  Result<void> run() {
    while (const auto words = lines_.next()) {
      if (words->front() == "piece") {
        RINGSIDE_TRY(end_piece());
        RINGSIDE_TRY(begin_piece(*words));
      } else {
        RINGSIDE_TRY(add_line(*words));
      }
    }
    return end_piece();
  }

 private:
  Result<void> begin_piece(Words words) {
    const bool shaped = words.size() == 6 && words[4] == "of";
    const auto address = shaped ? to_number(words[1]) : std::nullopt;
    const auto size = shaped ? to_number(words[3]) : std::nullopt;
    const auto requested = shaped ? to_number(words[5]) : std::nullopt;
    const auto kind = shaped ? std::find(kKinds.begin(), kKinds.end(), words[2]) : kKinds.end();
    if (!address || !size || !requested || kind == kKinds.end() ||
        *requested > std::numeric_limits<std::uint32_t>::max())
      return lines_.error("not 'piece ADDRESS KIND SIZE of ASKED-FOR'");
    if (*size > kMaxMemory - capture_.bytes.size())
      return lines_.error(fmt::format("more than {} bytes of memory", kMaxMemory));
    capture_.pieces.push_back({{*address},
                               static_cast<wire::PieceKind>(kind - kKinds.begin()),
                               static_cast<std::uint32_t>(*requested),
                               static_cast<std::uint32_t>(capture_.bytes.size()),
                               static_cast<std::uint32_t>(*size)});
    return {};
  }

  Result<void> add_line(Words words) {
    if (capture_.pieces.empty()) return lines_.error("bytes before the first line 'piece'");
    const wire::MemoryPiece& piece = capture_.pieces.back();
    const std::size_t before = capture_.bytes.size();
    const GuestVirt expected = piece.address + (before - piece.offset);
    if (to_number(words.front()) != expected.value)
      return lines_.error(fmt::format("the next bytes are those at {:#x}", expected.value));
    const std::size_t left = piece.offset + piece.size - before;
    if (words.size() == 3 && words[1] == kZeros) {
      const auto size = to_number(words[2]);
      if (!size || *size == 0 || *size > left) return lines_.error(not_bytes(left));
      capture_.bytes.resize(before + *size);
      return {};
    }
    bool right = words.size() > 1 && words.size() <= 1 + kLineBytes / kWordBytes;
    for (const std::string_view word : words.subspan(1))
      right = right && add_bytes(word, capture_.bytes);
    if (!right || capture_.bytes.size() - before > left) return lines_.error(not_bytes(left));
    return {};
  }

  Result<void> end_piece() const {
    if (capture_.pieces.empty()) return {};
    const wire::MemoryPiece& piece = capture_.pieces.back();
    const std::size_t size = capture_.bytes.size() - piece.offset;
    if (size == piece.size) return {};
    return lines_.error(fmt::format("the piece at {:#x} ends with {} of its {} bytes",
                                    piece.address.value, size, piece.size));
  }

  static std::string not_bytes(std::size_t left) {
    return fmt::format("not up to {} bytes in words of {}, nor 'zeros COUNT', of the {} bytes left",
                       kLineBytes, kWordBytes, left);
  }

  TextLines lines_;
  wire::Capture& capture_;
};

}  // namespace

std::string memory_text(const wire::Capture& capture) {
  std::string text = "# piece ADDRESS KIND SIZE of ASKED-FOR, then its bytes\n";
  for (const wire::MemoryPiece& piece : capture.pieces)
    text += fmt::format("piece {:#x} {} {} of {}\n{}", piece.address.value,
                        kKinds[static_cast<std::size_t>(piece.why)], piece.size, piece.requested,
                        bytes_text(piece.address, capture.bytes_of(piece)));
  return text;
}

Result<void> parse_memory(TextLines lines, wire::Capture& capture) {
  return Parser(std::move(lines), capture).run();
}

}  // namespace ringside::cases
