#include "guestos/program_finder.h"

#include <algorithm>

#include "memory/page_cache.h"

namespace ringside::guestos {
namespace {

// Pages that are compared before a file is taken, and so that two are distinguished.
constexpr std::size_t kMostOthers = 64;
constexpr std::size_t kMostToDecide = 1024;
constexpr std::size_t kMostPagesKept = 4096;
// Files between which is decided.
constexpr std::size_t kMostRivals = 8;

// The biases that bring a page of the file's code to `page`.
std::vector<std::uint64_t> biases(const ProgramCode& code, GuestVirt page) {
  if (!code.may_move()) return {0};
  std::vector<std::uint64_t> found;
  for (const ImageAddr own : code.pages()) found.push_back(page.value - own.value);
  return found;
}

// Whether `a` is the better one of two files with the same code.
bool is_better(const UserImage& a, const UserImage& b) {
  return a.file->symbols().size() > b.file->symbols().size();
}

}  // namespace

Result<std::optional<std::vector<std::byte>>> read_code_page(GuestVirt page,
                                                             VirtualMemory& memory) {
  std::vector<std::byte> bytes(kCodePage);
  RINGSIDE_ASSIGN(const std::size_t size, memory.read_up_to(page, bytes));
  const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
  if (size < kCodePage || std::all_of(bytes.begin(), bytes.end(), is_zero)) return std::nullopt;
  return bytes;
}

ProgramFinder::ProgramFinder(const std::vector<std::shared_ptr<const UserImage>>& programs) {
  for (const auto& program : programs)
    if (program->file) programs_.push_back(std::make_shared<ProgramCode>(program));
}

std::vector<PlacedProgram> ProgramFinder::candidates(const Sampled& sampled) const {
  std::vector<PlacedProgram> fits;
  for (const auto& code : programs_)
    for (const std::uint64_t bias : biases(*code, sampled.page)) {
      const PlacedProgram placed{code, bias};
      if (code->covers(placed.to_image(sampled.pc)) &&
          code->compare(placed.to_image(sampled.page), sampled.bytes) == Fit::kEqual)
        fits.push_back(placed);
    }
  return fits;
}

Result<bool> ProgramFinder::is_equal(const PlacedProgram& placed,
                                     const std::set<std::uint64_t>& pages,
                                     VirtualMemory& memory) const {
  std::set<std::uint64_t> compared = pages;
  const std::vector<ImageAddr>& own = placed.code->pages();
  const std::size_t step = std::max<std::size_t>(1, (own.size() + kMostOthers - 1) / kMostOthers);
  for (std::size_t i = 0; i < own.size(); i += step) compared.insert(own[i].value + placed.bias);
  for (const std::uint64_t page : compared) {
    RINGSIDE_ASSIGN(const auto there, read_code_page({page}, memory));
    if (there && placed.code->compare(placed.to_image({page}), *there) == Fit::kDifferent)
      return false;
  }
  return true;
}

void ProgramFinder::drop_twins(std::vector<PlacedProgram>& fits) {
  for (auto kept = fits.begin(); kept != fits.end(); ++kept)
    for (auto other = std::next(kept); other != fits.end();) {
      if (other->bias != kept->bias || !other->code->is_same_as(*kept->code)) {
        ++other;
        continue;
      }
      if (is_better(*other->code->program(), *kept->code->program())) std::swap(*kept, *other);
      const UserImage& taken = *kept->code->program();
      const UserImage& left = *other->code->program();
      // A stripped copy beside the file is no other program.
      if (taken.name != left.name && !left.file->symbols().empty())
        twins_.try_emplace(left.name,
                           fmt::format("{} and {} hold the same code: a process that "
                                       "runs it is shown as {}",
                                       taken.file->name(), left.file->name(), taken.name));
      other = fits.erase(other);
    }
}

Result<bool> ProgramFinder::beats(const PlacedProgram& a, const PlacedProgram& b,
                                  VirtualMemory& memory) {
  std::set<std::uint64_t> pages;
  for (const PlacedProgram* placed : {&a, &b})
    for (const ImageAddr own : placed->code->pages()) pages.insert(own.value + placed->bias);
  std::size_t left = kMostToDecide;
  for (const std::uint64_t page : pages) {
    if (left-- == 0) break;
    RINGSIDE_ASSIGN(const auto there, read_code_page({page}, memory));
    if (!there) continue;
    const Fit of_a = a.code->compare(a.to_image({page}), *there);
    const Fit of_b = b.code->compare(b.to_image({page}), *there);
    if (of_a == of_b) continue;
    // Where one is the other's beginning it is the longer.
    return of_b == Fit::kDifferent || of_a == Fit::kEqual;
  }
  return false;
}

Result<std::optional<PlacedProgram>> ProgramFinder::find(const Sampled& sampled,
                                                         const std::set<std::uint64_t>& pages,
                                                         VirtualMemory& process) {
  // Each pair of files is compared with the same pages.
  memory::PageCache<GuestVirt> memory(process, kMostPagesKept);
  std::vector<PlacedProgram> fits;
  for (const PlacedProgram& placed : candidates(sampled)) {
    RINGSIDE_ASSIGN(const bool fits_all, is_equal(placed, pages, memory));
    if (fits_all) fits.push_back(placed);
  }
  drop_twins(fits);
  if (fits.size() > kMostRivals) return std::nullopt;
  for (const PlacedProgram& placed : fits) {
    bool is_best = true;
    for (const PlacedProgram& other : fits) {
      if (!is_best || &other == &placed) continue;
      RINGSIDE_ASSIGN(is_best, beats(placed, other, memory));
    }
    if (is_best) return placed;
  }
  return std::nullopt;
}

}  // namespace ringside::guestos
