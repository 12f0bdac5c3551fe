#include "kernel_image/identity.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace ringside::kernel_image {
namespace {

constexpr std::size_t kWindowBytes = 256;
constexpr double kSameShare = 0.8;
// Below this share of equal bytes there is no kernel text at all: two unrelated texts of x86_64
// code agree in about one byte of ten.
constexpr double kUnrelatedShare = 0.4;

class Comparison {
 public:
  Comparison(const elf::ElfFile& file, std::uint64_t load_bias, VirtualMemory& memory,
             std::size_t text_pieces)
      : file_(file), load_bias_(load_bias), memory_(memory), text_pieces_(text_pieces) {}

  [[nodiscard]] Result<Identity> run();

 private:
  [[nodiscard]] Result<std::vector<std::byte>> memory_at(ImageAddr address, std::size_t size);
  [[nodiscard]] Result<std::optional<Identity>> compare_build_id();
  [[nodiscard]] Result<std::optional<Identity>> compare_banner();
  [[nodiscard]] Result<Identity> compare_text();

  const elf::ElfFile& file_;
  std::uint64_t load_bias_;
  VirtualMemory& memory_;
  std::size_t text_pieces_;
};

std::string printable_line(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c == '\0' || c == '\n') break;
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text;
}

// Where two texts have the same bytes at the same place.
std::size_t equal_bytes(Bytes a, Bytes b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] == b[i];
  return count;
}

Result<std::vector<std::byte>> Comparison::memory_at(ImageAddr address, std::size_t size) {
  return memory_.read_bytes({address.value + load_bias_}, size);
}

Result<std::optional<Identity>> Comparison::compare_build_id() {
  for (const elf::Note& note : file_.notes()) {
    if (note.owner != "GNU" || note.type != 3 || !note.address || note.description.size() > 64)
      continue;
    // The note's head in memory tells a build id from whatever else is there: owner size 4,
    // description size, type 3, "GNU".
    constexpr std::size_t kHead = 16;
    if (file_.bytes_at(*note.address - kHead, kHead).size() < kHead) continue;
    RINGSIDE_ASSIGN(const auto memory,
                    memory_at(*note.address - kHead, kHead + note.description.size()));
    if (memory.size() < kHead + note.description.size()) continue;
    const Bytes head = file_.bytes_at(*note.address - kHead, kHead);
    if (!std::equal(head.begin(), head.end(), memory.begin())) continue;
    const Bytes there = Bytes(memory).subspan(kHead);
    return Identity{.sameness = std::equal(there.begin(), there.end(), note.description.begin())
                                    ? MatchResult::kSame
                                    : MatchResult::kDifferent,
                    .evidence = "build id",
                    .in_file = hex_text(note.description),
                    .in_memory = hex_text(there)};
  }
  return std::nullopt;
}

Result<std::optional<Identity>> Comparison::compare_banner() {
  // init/version.c: "Linux version %s (%s@%s) (%s) %s\n"
  constexpr std::string_view kBegin = "Linux version ";
  constexpr std::size_t kMaxBanner = 512;
  const auto symbol = file_.symbol_named("linux_banner");
  if (!symbol) return std::nullopt;
  const Bytes banner = file_.bytes_at(symbol->address, kMaxBanner);
  RINGSIDE_ASSIGN(const auto memory, memory_at(symbol->address, kMaxBanner));
  const std::string in_file = printable_line(banner);
  const std::string in_memory = printable_line(memory);
  if (!in_file.starts_with(kBegin) || !in_memory.starts_with(kBegin)) return std::nullopt;
  return Identity{.sameness = in_file == in_memory ? MatchResult::kSame : MatchResult::kDifferent,
                  .evidence = "version banner",
                  .in_file = in_file,
                  .in_memory = in_memory};
}

Result<Identity> Comparison::compare_text() {
  const auto text = file_.section(".text");
  ImageAddr start = text ? text->address : file_.entry();
  std::uint64_t size = text ? text->bytes.size() : 0;
  if (!text) {
    for (const elf::Segment& segment : file_.segments()) {
      if (!segment.executable) continue;
      start = segment.address;
      size = segment.file_size;
      break;
    }
  }
  Identity result{.sameness = MatchResult::kNoEvidence,
                  .evidence = kTextEvidence,
                  .in_file = {},
                  .in_memory = {}};
  if (size == 0) return result;
  std::size_t wanted = 0;
  std::size_t compared = 0;
  std::size_t equal = 0;
  const std::size_t windows = std::clamp<std::size_t>(size / kWindowBytes, 1, text_pieces_);
  for (std::size_t i = 0; i < windows; ++i) {
    const ImageAddr at = start + size / windows * i;
    const Bytes in_file = file_.bytes_at(at, std::min<std::uint64_t>(kWindowBytes, size));
    if (in_file.empty()) continue;
    RINGSIDE_ASSIGN(const auto memory, memory_at(at, in_file.size()));
    wanted += in_file.size();
    compared += memory.size();
    equal += equal_bytes(in_file, memory);
  }
  if (compared == 0 || compared * 2 < wanted) {
    result.sameness = MatchResult::kUnreadable;
    return result;
  }
  const double share = static_cast<double>(equal) / static_cast<double>(compared);
  result.equal_share = share;
  result.in_file = fmt::format("{} bytes of .text", compared);
  result.in_memory = fmt::format("{:.0f} % of them equal", share * 100);
  result.sameness = share >= kSameShare       ? MatchResult::kSame
                    : share < kUnrelatedShare ? MatchResult::kNotThere
                                              : MatchResult::kDifferent;
  return result;
}

Result<Identity> Comparison::run() {
  RINGSIDE_ASSIGN(auto build_id, compare_build_id());
  if (build_id) return std::move(*build_id);
  RINGSIDE_ASSIGN(auto banner, compare_banner());
  if (banner) return std::move(*banner);
  return compare_text();
}

}  // namespace

std::string Identity::explain(const std::string& file_name) const {
  switch (sameness) {
    case MatchResult::kSame:
      return {};
    case MatchResult::kDifferent:
      return fmt::format(
          "{} is not the kernel that runs in the guest: its {} is {}, the guest's {}", file_name,
          evidence, in_file, in_memory);
    case MatchResult::kNotThere:
      return fmt::format(
          "nothing of {} is at its addresses in the guest: the kernel has not started yet, is "
          "another one, or has moved; if it has moved, give --load-bias",
          file_name);
    case MatchResult::kUnreadable:
      return fmt::format(
          "the addresses of {} are not mapped in the guest: the kernel has not started yet or has "
          "moved; if it has moved, give --load-bias",
          file_name);
    case MatchResult::kNoEvidence:
      break;
  }
  return fmt::format("{} has no code to compare with the guest", file_name);
}

Result<Identity> check_identity(const elf::ElfFile& file, std::uint64_t load_bias,
                                VirtualMemory& memory, std::size_t text_pieces) {
  return Comparison(file, load_bias, memory, text_pieces).run();
}

bool is_one_build(const elf::ElfFile& file, double equal_share) {
  constexpr double kOneBuildShare = 0.97;
  return equal_share >= (file.symbol_named("linux_banner") ? kSameShare : kOneBuildShare);
}

}  // namespace ringside::kernel_image
