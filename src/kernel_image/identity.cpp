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
constexpr std::uint64_t kPage = 4096;
// The head of a note that has a build id in memory: owner size 4, description size, type 3, "GNU".
constexpr std::size_t kNoteHead = 16;
// So far a note moves where a kernel is built again.
constexpr std::uint64_t kNoteReach = 64 << 10;
constexpr double kSameShare = 0.97;
constexpr double kSameShareOfLinux = 0.8;
// Below this share of equal bytes there is no kernel text at all: two unrelated texts of x86_64
// code agree in about one byte of ten.
constexpr double kUnrelatedShare = 0.4;

class Comparison {
 public:
  Comparison(const elf::ElfFile& file, std::uint64_t load_bias, VirtualMemory& memory,
             std::size_t text_pieces, std::optional<GuestVirt> pc)
      : file_(file), load_bias_(load_bias), memory_(memory), text_pieces_(text_pieces), pc_(pc) {}

  [[nodiscard]] Result<Identity> run();

 private:
  [[nodiscard]] Result<std::vector<std::byte>> memory_at(ImageAddr address, std::size_t size);
  struct Around {
    std::uint64_t begin = 0;  // image address
    std::vector<std::byte> bytes;
    bool is_from_first = false;  // nothing of the kernel is in front of it
  };
  [[nodiscard]] Result<Around> memory_around(ImageAddr address, std::uint64_t reach);
  [[nodiscard]] static bool may_be_a_programs(const Around& around, std::size_t offset);
  [[nodiscard]] Result<std::optional<Identity>> compare_build_id();
  [[nodiscard]] Result<std::optional<Identity>> find_another_build_id();
  [[nodiscard]] Result<std::optional<Identity>> compare_banner();
  struct Equality {
    std::size_t wanted = 0;    // bytes
    std::size_t compared = 0;  // of them: memory has them
    std::size_t equal = 0;

    [[nodiscard]] double share() const {
      return static_cast<double>(equal) / static_cast<double>(std::max<std::size_t>(compared, 1));
    }
  };
  [[nodiscard]] Result<void> compare_code(ImageAddr address, std::size_t size, Equality& all);
  [[nodiscard]] Result<Equality> compare_where_it_runs();
  [[nodiscard]] Result<Equality> compare_everywhere();
  [[nodiscard]] Result<Identity> compare_text();

  const elf::ElfFile& file_;
  std::uint64_t load_bias_;
  VirtualMemory& memory_;
  std::size_t text_pieces_;
  std::optional<GuestVirt> pc_;
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

bool is_build_id(const elf::Note& note) {
  return note.owner == "GNU" && note.type == 3 && note.address && note.description.size() <= 64;
}

Identity by_build_id(const elf::Note& note, Bytes there) {
  return {.sameness = std::equal(there.begin(), there.end(), note.description.begin())
                          ? MatchResult::kSame
                          : MatchResult::kDifferent,
          .evidence = "build id",
          .in_file = hex_text(note.description),
          .in_memory = hex_text(there)};
}

Result<std::optional<Identity>> Comparison::compare_build_id() {
  for (const elf::Note& note : file_.notes()) {
    if (!is_build_id(note)) continue;
    const Bytes head = file_.bytes_at(*note.address - kNoteHead, kNoteHead);
    if (head.size() < kNoteHead) continue;
    RINGSIDE_ASSIGN(const auto memory,
                    memory_at(*note.address - kNoteHead, kNoteHead + note.description.size()));
    if (memory.size() < kNoteHead + note.description.size()) continue;
    if (std::equal(head.begin(), head.end(), memory.begin()))
      return by_build_id(note, Bytes(memory).subspan(kNoteHead));
  }
  return std::nullopt;
}

// Memory from the kernel's first byte, or so far in front of an address, to so far behind it, as
// far as it can be read without a hole. Nothing in front of a kernel is read: devices may be there.
Result<Comparison::Around> Comparison::memory_around(ImageAddr address, std::uint64_t reach) {
  constexpr std::uint64_t kPiece = 4 * kPage;
  const std::uint64_t page = address.value - address.value % kPage;
  const std::uint64_t first =
      file_.segments().empty() ? page : file_.segments().front().address.value;
  Around around{.begin = page, .bytes = {}, .is_from_first = false};
  for (bool more = true; more && around.bytes.size() < reach;) {
    RINGSIDE_ASSIGN(const auto piece, memory_at({page + around.bytes.size()}, kPiece));
    around.bytes.insert(around.bytes.end(), piece.begin(), piece.end());
    more = piece.size() == kPiece;
  }
  while (!around.bytes.empty() && around.begin > first && page - around.begin < reach) {
    const std::uint64_t size = std::min(kPiece, around.begin - first);
    RINGSIDE_ASSIGN(const auto piece, memory_at({around.begin - size}, size));
    if (piece.size() < size) break;
    around.bytes.insert(around.bytes.begin(), piece.begin(), piece.end());
    around.begin -= size;
  }
  around.is_from_first = around.begin <= first;
  return around;
}

// A program that lies in a kernel's data, such as Linux' vDSO, has a note of its own near its
// beginning. True also where that cannot be seen.
bool Comparison::may_be_a_programs(const Around& around, std::size_t offset) {
  constexpr std::array<std::byte, 4> kElf = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'},
                                             std::byte{'F'}};
  if (offset < kPage && !around.is_from_first) return true;
  const Bytes before = Bytes(around.bytes).first(offset);
  const Bytes near = before.last(std::min<std::size_t>(before.size(), kPage));
  return std::search(near.begin(), near.end(), kElf.begin(), kElf.end()) != near.end();
}

// The kernel was built again, and its note has moved.
Result<std::optional<Identity>> Comparison::find_another_build_id() {
  const auto own = std::find_if(file_.notes().begin(), file_.notes().end(), is_build_id);
  if (own == file_.notes().end()) return std::nullopt;
  const elf::Note& note = *own;
  const Bytes head = file_.bytes_at(*note.address - kNoteHead, kNoteHead);
  if (head.size() < kNoteHead) return std::nullopt;
  RINGSIDE_ASSIGN(const Around around, memory_around(*note.address, kNoteReach));
  const std::vector<std::byte>& memory = around.bytes;
  const std::size_t size = kNoteHead + note.description.size();
  std::optional<Identity> found;
  for (auto at = memory.begin();; ++at) {
    at = std::search(at, memory.end(), head.begin(), head.end());
    const auto offset = static_cast<std::size_t>(at - memory.begin());
    if (offset + size > memory.size()) return found;
    if (may_be_a_programs(around, offset)) continue;
    const Bytes there = Bytes(memory).subspan(offset + kNoteHead, note.description.size());
    Identity identity = by_build_id(note, there);
    // The same build at another place, or several notes: that shows nothing of this place.
    if (found || identity.sameness == MatchResult::kSame) return std::nullopt;
    found = std::move(identity);
  }
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
  if (!in_file.starts_with(kBegin) || memory.empty()) return std::nullopt;
  if (!in_memory.starts_with(kBegin))
    return Identity{.sameness = MatchResult::kNotThere,
                    .evidence = "version banner",
                    .in_file = in_file,
                    .in_memory = {}};
  return Identity{.sameness = in_file == in_memory ? MatchResult::kSame : MatchResult::kDifferent,
                  .evidence = "version banner",
                  .in_file = in_file,
                  .in_memory = in_memory};
}

Result<void> Comparison::compare_code(ImageAddr address, std::size_t size, Equality& all) {
  const Bytes in_file = file_.bytes_at(address, size);
  if (in_file.empty()) return {};
  RINGSIDE_ASSIGN(const auto memory, memory_at(address, in_file.size()));
  all.wanted += in_file.size();
  all.compared += memory.size();
  all.equal += equal_bytes(in_file, memory);
  return {};
}

// The page around the pc, as far as it is the file's code.
Result<Comparison::Equality> Comparison::compare_where_it_runs() {
  Equality result;
  if (!pc_) return result;
  const std::uint64_t at = pc_->value - load_bias_;
  const std::uint64_t page = at - at % kPage;
  for (const elf::CodeRange& code : file_.code()) {
    const std::uint64_t begin = std::max(page, code.address.value);
    const std::uint64_t end = std::min(page + kPage, code.address.value + code.bytes.size());
    if (begin < end) RINGSIDE_TRY(compare_code({begin}, end - begin, result));
  }
  return result;
}

// Pieces of .text, or of the first executable segment of a file without sections.
Result<Comparison::Equality> Comparison::compare_everywhere() {
  Equality result;
  const auto text = file_.section(".text");
  const std::vector<elf::CodeRange> code = file_.code();
  if (!text && code.empty()) return result;
  const ImageAddr start = text ? text->address : code.front().address;
  const std::uint64_t size = text ? text->bytes.size() : code.front().bytes.size();
  if (size == 0) return result;
  const std::size_t windows = std::clamp<std::size_t>(size / kWindowBytes, 1, text_pieces_);
  for (std::size_t i = 0; i < windows; ++i)
    RINGSIDE_TRY(compare_code(start + size / windows * i,
                              std::min<std::uint64_t>(kWindowBytes, size), result));
  return result;
}

Result<Identity> Comparison::compare_text() {
  Identity result{.sameness = MatchResult::kNoEvidence,
                  .evidence = kTextEvidence,
                  .in_file = {},
                  .in_memory = {}};
  RINGSIDE_ASSIGN(const Equality everywhere, compare_everywhere());
  if (everywhere.wanted == 0) return result;
  RINGSIDE_ASSIGN(const Equality here, compare_where_it_runs());
  if (everywhere.compared == 0 || everywhere.compared * 2 < everywhere.wanted) {
    // Something else may run there, at addresses that the kernel has left.
    const bool is_other = here.compared != 0 && here.share() < kUnrelatedShare;
    result.sameness = is_other ? MatchResult::kNotThere : MatchResult::kUnreadable;
    return result;
  }
  const double share =
      here.compared != 0 ? std::min(everywhere.share(), here.share()) : everywhere.share();
  result.equal_share = share;
  result.compared = everywhere.compared + here.compared;
  result.in_file = fmt::format("{} bytes of its code", result.compared);
  result.in_memory = fmt::format("{:.1f} % of them equal", share * 100);
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
  RINGSIDE_ASSIGN(Identity text, compare_text());
  if (text.sameness != MatchResult::kSame && text.sameness != MatchResult::kDifferent) return text;
  RINGSIDE_ASSIGN(auto another, find_another_build_id());
  return another ? std::move(*another) : std::move(text);
}

}  // namespace

Result<Identity> check_identity(const elf::ElfFile& file, std::uint64_t load_bias,
                                VirtualMemory& memory, std::size_t text_pieces,
                                std::optional<GuestVirt> pc) {
  return Comparison(file, load_bias, memory, text_pieces, pc).run();
}

bool is_one_build(const elf::ElfFile& file, double equal_share) {
  return equal_share >= (file.symbol_named("linux_banner") ? kSameShareOfLinux : kSameShare);
}

}  // namespace ringside::kernel_image
