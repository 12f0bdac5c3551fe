#include "kernel_image/slide.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
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

// Looks for the pieces in a page of the file, each at its own offset.
void compare_page(Bytes page, ImageAddr at, std::vector<Piece>& pieces) {
  for (Piece& piece : pieces) {
    const std::size_t offset = piece.address.value % kPage;
    if (piece.commonplace || offset + kPieceBytes > page.size() ||
        std::memcmp(page.data() + offset, piece.bytes.data(), kPieceBytes) != 0)
      continue;
    piece.slides.push_back(piece.address.value - (at.value + offset));
    piece.commonplace = piece.slides.size() > kCommonplace;
  }
}

}  // namespace

Result<std::optional<std::uint64_t>> find_slide(const elf::ElfFile& file, GuestVirt pc,
                                                VirtualMemory& memory) {
  RINGSIDE_ASSIGN(auto pieces, pieces_around(pc, memory));
  for (const elf::Segment& segment : file.segments()) {
    if (!segment.executable) continue;
    // Bytes before the segment's first whole page are left out.
    const std::uint64_t skip = (kPage - segment.address.value % kPage) % kPage;
    for (std::uint64_t i = skip; i < segment.file_size; i += kPage)
      compare_page(file.bytes_at(segment.address + i, kPage), segment.address + i, pieces);
  }
  std::unordered_map<std::uint64_t, unsigned> votes;
  for (const Piece& piece : pieces)
    if (!piece.commonplace)
      for (const std::uint64_t slide : piece.slides) ++votes[slide];
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == votes.end() || most->second < kLeastVotes) return std::nullopt;
  // A second place as good as the first: the file repeats itself there.
  const auto is_as_good = [&](const auto& vote) { return vote.second == most->second; };
  if (std::count_if(votes.begin(), votes.end(), is_as_good) > 1) return std::nullopt;
  return most->first;
}

}  // namespace ringside::kernel_image
