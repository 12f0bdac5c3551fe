#include "naming/code_match.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernel_image/identity.h"

namespace ringside::naming {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kStep = 64;
constexpr std::size_t kPieceBytes = 16;
constexpr std::size_t kLeastVotes = 8;
// All of the code is compared where it is less than that: it has too few pieces.
constexpr std::size_t kLittle = 4096;
constexpr std::size_t kLeastLittle = 64;
constexpr std::size_t kMostCompared = 16;

// Linux reuses the memory of its other code after it has started.
std::vector<elf::CodeRange> code_of(const elf::ElfFile& file) {
  if (const auto text = file.section(".text")) return {{text->address, text->bytes}};
  return file.code();
}

// Calls visit(address, bytes) for the pieces of code, one every `step` bytes.
template <class Visit>
void for_each_piece(const elf::ElfFile& file, std::uint64_t step, Visit visit) {
  for (const elf::CodeRange& code : code_of(file)) {
    const std::uint64_t skip = (step - code.address.value % step) % step;
    for (std::uint64_t i = skip; i + kPieceBytes <= code.bytes.size(); i += step)
      visit(code.address + i,
            std::string_view(reinterpret_cast<const char*>(code.bytes.data()) + i, kPieceBytes));
  }
}

// The address of each piece of `file` that occurs once: padding shows nothing.
std::unordered_map<std::string_view, std::optional<ImageAddr>> pieces_of(const elf::ElfFile& file,
                                                                         std::uint64_t step) {
  std::unordered_map<std::string_view, std::optional<ImageAddr>> pieces;
  for_each_piece(file, step, [&](ImageAddr at, std::string_view bytes) {
    const auto [piece, is_new] = pieces.try_emplace(bytes, at);
    if (!is_new) piece->second.reset();
  });
  return pieces;
}

// Equal bytes of the code that both have; 0 where too few are equal.
std::size_t equal_bytes(const elf::ElfFile& file, const elf::ElfFile& running, std::uint64_t step,
                        std::uint64_t distance) {
  std::size_t compared = 0;
  std::size_t equal = 0;
  for_each_piece(file, step, [&](ImageAddr at, std::string_view bytes) {
    const Bytes there = running.bytes_at(at + distance, bytes.size());
    compared += there.size();
    for (std::size_t i = 0; i < there.size(); ++i)
      equal += there[i] == static_cast<std::byte>(bytes[i]);
  });
  const double share =
      static_cast<double>(equal) / static_cast<double>(std::max<std::size_t>(compared, 1));
  const bool is_enough = step == kStep || compared >= kLeastLittle;
  return is_enough && kernel_image::is_one_build(file, share) ? equal : 0;
}

std::uint64_t step_for(const elf::ElfFile& file) {
  std::size_t size = 0;
  for (const elf::CodeRange& code : code_of(file)) size += code.bytes.size();
  return size < kLittle ? kPieceBytes : kStep;
}

}  // namespace

std::optional<std::uint64_t> distance_by_code(const elf::ElfFile& file,
                                              const elf::ElfFile& running) {
  const std::uint64_t step = step_for(file);
  const auto pieces = pieces_of(file, step);
  const std::size_t least_votes = step == kStep ? kLeastVotes : 1;
  std::unordered_map<std::uint64_t, std::uint64_t> votes;
  for_each_piece(running, step, [&](ImageAddr at, std::string_view bytes) {
    const auto piece = pieces.find(bytes);
    if (piece == pieces.end() || !piece->second) return;
    const std::uint64_t distance = at.value - piece->second->value;
    if (distance % kPage == 0) ++votes[distance];
  });
  // Those with the most votes first; a file made for it may have any number.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_votes;
  for (const auto& [distance, count] : votes)
    if (count >= least_votes) by_votes.emplace_back(count, distance);
  std::sort(by_votes.rbegin(), by_votes.rend());
  if (by_votes.size() > kMostCompared) by_votes.resize(kMostCompared);
  std::optional<std::uint64_t> best;
  std::size_t most = 0;
  for (const auto& [count, distance] : by_votes) {
    const std::size_t equal = equal_bytes(file, running, step, distance);
    if (equal <= most) continue;
    most = equal;
    best = distance;
  }
  return best;
}

}  // namespace ringside::naming
