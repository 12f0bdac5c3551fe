#include "kernel_image/slide.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace ringside::kernel_image {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kPieceBytes = 16;
constexpr std::size_t kPieceStep = 64;
constexpr unsigned kCommonplace = 8;  // a piece that is found more often tells nothing: padding
constexpr unsigned kLeastVotes = 4;

struct Piece {
  GuestVirt address;
  std::array<std::byte, kPieceBytes> bytes;
  std::vector<std::uint64_t> slides;  // where it was found
  bool commonplace = false;
};

Result<std::vector<Piece>> pieces_around(GuestVirt pc, VirtualMemory& memory) {
  std::vector<Piece> pieces;
  const GuestVirt page = pc - pc.value % kPage;
  for (const GuestVirt at : {page, page + kPage, page - kPage}) {
    std::array<std::byte, kPage> bytes;
    RINGSIDE_ASSIGN(const std::size_t size, memory.read_up_to(at, bytes));
    for (std::size_t i = 0; i + kPieceBytes <= size; i += kPieceStep) {
      Piece& piece = pieces.emplace_back();
      piece.address = at + i;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i), kPieceBytes, piece.bytes.begin());
    }
  }
  return pieces;
}

// Looks for the pieces in the part of a page that is code, each at its own offset in the page.
void compare_page(const elf::CodeRange& code, ImageAddr page, std::vector<Piece>& pieces) {
  for (Piece& piece : pieces) {
    const ImageAddr at = page + piece.address.value % kPage;
    const std::uint64_t offset = at - code.address;
    if (piece.commonplace || offset >= code.bytes.size() ||
        kPieceBytes > code.bytes.size() - offset ||
        std::memcmp(code.bytes.data() + offset, piece.bytes.data(), kPieceBytes) != 0)
      continue;
    piece.slides.push_back(piece.address.value - at.value);
    piece.commonplace = piece.slides.size() > kCommonplace;
  }
}

}  // namespace

Result<SlideVotes> votes_around(const elf::ElfFile& file, GuestVirt pc, VirtualMemory& memory) {
  constexpr std::size_t kMost = 4;
  RINGSIDE_ASSIGN(auto pieces, pieces_around(pc, memory));
  for (const elf::CodeRange& code : file.code()) {
    const ImageAddr first = code.address - code.address.value % kPage;
    for (ImageAddr page = first; page - first < code.address - first + code.bytes.size();
         page = page + kPage)
      compare_page(code, page, pieces);
  }
  std::map<std::uint64_t, unsigned> counts;
  for (const Piece& piece : pieces)
    if (!piece.commonplace)
      for (const std::uint64_t slide : piece.slides) ++counts[slide];
  std::vector<std::pair<std::uint64_t, unsigned>> votes(counts.begin(), counts.end());
  std::stable_sort(votes.begin(), votes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  SlideVotes result;
  for (std::size_t i = 0; i < std::min(votes.size(), kMost); ++i)
    result.possible.push_back(votes[i].first);
  // A second place as good as the first: the file repeats itself there.
  const bool is_clear =
      votes.size() == 1 || (votes.size() > 1 && votes[1].second < votes[0].second);
  if (is_clear && votes[0].second >= kLeastVotes) result.likely = votes[0].first;
  return result;
}

Result<std::optional<std::uint64_t>> find_slide(const elf::ElfFile& file, GuestVirt pc,
                                                VirtualMemory& memory) {
  RINGSIDE_ASSIGN(const SlideVotes votes, votes_around(file, pc, memory));
  return votes.likely;
}

}  // namespace ringside::kernel_image
