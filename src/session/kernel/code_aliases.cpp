#include "session/kernel/code_aliases.h"

#include <elf.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/elf_writer.h"
#include "kernel_image/identity.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr unsigned kProbesOfAPage = 4;
constexpr unsigned kMaxProbes = 64;
constexpr std::uint64_t kMostSearched = std::uint64_t{512} << 20;
// Places of the kernel are looked for by so many bytes close to the pc, and then compared further.
// Beginnings of functions are often the same, and inlined ones.
constexpr std::uint64_t kSeed = 16;
constexpr std::uint64_t kSeedStep = 8;
constexpr std::size_t kFewest = 32;
constexpr std::size_t kMostPlaces = 256;
constexpr std::uint64_t kMostPages = 16;  // to each side

struct Piece {
  GuestVirt start;
  std::vector<std::byte> bytes;
};

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Piece> read_piece(GuestVirt from, std::uint64_t size, VirtualMemory& memory) {
  Piece piece{from, std::vector<std::byte>(size)};
  RINGSIDE_ASSIGN(const std::size_t got, memory.read_up_to(from, piece.bytes));
  piece.bytes.resize(got);
  return piece;
}

// How many bytes from the start are equal.
std::size_t equal_bytes(Bytes a, Bytes b) {
  const std::size_t size = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(size), b.begin()).first -
      a.begin());
}

std::size_t equal_bytes_at_end(Bytes a, Bytes b) {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t equal = 0;
  while (equal < size && a[a.size() - 1 - equal] == b[b.size() - 1 - equal]) ++equal;
  return equal;
}

// How many bytes around `at` are those of the file.
std::size_t equal_around(const elf::ElfFile& file, std::uint64_t bias, const Piece& page,
                         std::uint64_t at) {
  const GuestVirt pc = page.start + at;
  const Bytes behind = Bytes(page.bytes).subspan(at);
  const Bytes before = Bytes(page.bytes).first(at);
  const std::size_t equal = equal_bytes(behind, file.bytes_at({pc.value - bias}, behind.size()));
  if (equal == 0) return 0;
  std::size_t size = before.size();
  Bytes own = file.bytes_at({pc.value - bias - size}, size);
  while (size != 0 && own.size() < size) {
    --size;
    own = file.bytes_at({pc.value - bias - size}, size);
  }
  return equal + equal_bytes_at_end(before, own);
}

// How far from where the file is linked its code runs at `at`, an offset in `page`. Nothing where
// no place in the file, or no single one, is the most like it. If two are, one at a distance of
// whole pages comes first: a second mapping is more likely than a copy.
std::optional<std::uint64_t> find_bias(const elf::ElfFile& file, const Piece& page,
                                       std::uint64_t at) {
  std::set<std::uint64_t> biases;
  const std::string_view memory = text_of(page.bytes);
  for (std::uint64_t from = at - std::min(at, kSeed); from <= at; from += kSeedStep) {
    const std::string_view seed = memory.substr(from, kSeed);
    if (seed.size() < kSeed) break;
    for (const elf::Segment& segment : file.segments()) {
      const std::string_view text = text_of(file.bytes_at(segment.address, segment.file_size));
      for (std::size_t found = text.find(seed); found != text.npos && biases.size() < kMostPlaces;
           found = text.find(seed, found + 1))
        biases.insert(page.start.value + from - (segment.address.value + found));
    }
  }
  std::optional<std::uint64_t> best;
  std::pair<std::size_t, bool> most;
  for (const std::uint64_t bias : biases) {
    const std::pair like(equal_around(file, bias, page, at), bias % kPage == 0);
    if (like.first < kFewest || like < most) continue;
    best = like == most ? std::nullopt : std::optional(bias);
    most = like;
  }
  return best;
}

// The bytes to both sides of `pc` that memory and the file have in common.
Result<Piece> read_equal(const elf::ElfFile& file, std::uint64_t bias, GuestVirt pc,
                         VirtualMemory& memory) {
  const auto in_file = [&](const Piece& piece) {
    return file.bytes_at({piece.start.value - bias}, piece.bytes.size());
  };
  Piece run{pc, {}};
  const GuestVirt page{pc.value / kPage * kPage};
  for (std::uint64_t n = 0; n < kMostPages; ++n) {
    const GuestVirt from = n == 0 ? pc : page + n * kPage;
    RINGSIDE_ASSIGN(const Piece piece,
                    read_piece(from, page.value + (n + 1) * kPage - from.value, memory));
    const std::size_t equal = equal_bytes(piece.bytes, in_file(piece));
    run.bytes.insert(run.bytes.end(), piece.bytes.begin(),
                     piece.bytes.begin() + static_cast<std::ptrdiff_t>(equal));
    if (equal < piece.bytes.size() ||
        run.start.value + run.bytes.size() < page.value + (n + 1) * kPage)
      break;
  }
  for (std::uint64_t n = 0; n < kMostPages && page.value >= n * kPage; ++n) {
    const GuestVirt from{page.value - n * kPage};
    const std::uint64_t size = n == 0 ? pc - page : kPage;
    RINGSIDE_ASSIGN(const Piece piece, read_piece(from, size, memory));
    // A segment may begin in the middle.
    std::uint64_t skip = 0;
    while (skip < size && !file.is_code({from.value + skip - bias})) ++skip;
    const Bytes there = file.bytes_at({from.value + skip - bias}, size - skip);
    const bool is_whole = piece.bytes.size() == size && there.size() == size - skip;
    const std::size_t equal = is_whole ? equal_bytes_at_end(piece.bytes, there) : 0;
    run.bytes.insert(run.bytes.begin(), piece.bytes.end() - static_cast<std::ptrdiff_t>(equal),
                     piece.bytes.end());
    run.start = GuestVirt{run.start.value - equal};
    if (equal < size) break;
  }
  return run;
}

// The functions that have code in the run. One that begins in front of it begins with it.
std::vector<elf::ElfWriter::Symbol> symbols_in(const elf::ElfFile& file, std::uint64_t bias,
                                               const Piece& run) {
  const std::uint64_t from = run.start.value - bias;
  const std::uint64_t to = from + run.bytes.size();
  const std::vector<elf::FunctionSymbol>& all = file.symbols();
  std::vector<elf::ElfWriter::Symbol> symbols;
  for (auto symbol = all.begin(); symbol != all.end() && symbol->address.value < to; ++symbol) {
    const auto next = std::find_if(symbol, all.end(), [&](const elf::FunctionSymbol& one) {
      return one.address != symbol->address;
    });
    const std::uint64_t limit = std::min(to, next != all.end() ? next->address.value : to);
    const std::uint64_t end = symbol->size != 0
                                  ? symbol->address.value + symbol->size
                                  : std::min(limit, file.end_of_code(symbol->address).value);
    if (end <= from) continue;
    const std::uint64_t start = std::max(symbol->address.value, from);
    const std::uint8_t type = symbol->is_function ? STT_FUNC : STT_NOTYPE;
    symbols.push_back({.name = symbol->name,
                       .address = {start + bias},
                       .size = std::min(end, to) - start,
                       .info = static_cast<std::uint8_t>(ELF64_ST_INFO(STB_GLOBAL, type))});
  }
  return symbols;
}

bool overlaps(const elf::Image& kernel, std::uint64_t bias) {
  for (const elf::Segment& one : kernel.file->segments())
    for (const elf::Segment& other : kernel.file->segments()) {
      const std::uint64_t own = kernel.to_guest(one.address).value;
      const std::uint64_t second = other.address.value + bias;
      if (own < second + other.memory_size && second < own + one.memory_size) return true;
    }
  return false;
}

}  // namespace

bool CodeAliases::wants(const elf::Image& kernel, GuestVirt pc) {
  if (all_probes_ == kMaxProbes || searched_ > kMostSearched) return false;
  unsigned& probes = probes_[pc.value / kPage];
  if (probes == kProbesOfAPage) return false;
  ++probes;
  ++all_probes_;
  for (const elf::Segment& segment : kernel.file->segments()) searched_ += segment.file_size;
  return true;
}

Result<std::optional<elf::Image>> CodeAliases::poll(const elf::Image& kernel, GuestVirt pc,
                                                    VirtualMemory& memory) {
  const elf::ElfFile& file = *kernel.file;
  const std::uint64_t at = pc.value % kPage;
  RINGSIDE_ASSIGN(const Piece page, read_piece(GuestVirt{pc.value - at}, kPage, memory));
  if (page.bytes.size() <= at) return std::nullopt;
  const auto found = find_bias(file, page, at);
  if (!found) return std::nullopt;
  const std::uint64_t bias = *found;
  // A segment may hold data as well, such as the kernel that a boot loader carries.
  const ImageAddr in_file{pc.value - bias};
  if (bias == kernel.load_bias || file.end_of_code(in_file) == in_file) return std::nullopt;
  if (!overlaps(kernel, bias)) {
    RINGSIDE_ASSIGN(const kernel_image::Identity identity,
                    kernel_image::check_identity(file, bias, memory));
    if (identity.sameness == kernel_image::MatchResult::kSame)
      return elf::Image{.name = kernel.name,
                        .file = kernel.file,
                        .load_bias = bias,
                        .from_guest = kernel.from_guest};
  }
  RINGSIDE_ASSIGN(const Piece run, read_equal(file, bias, pc, memory));
  elf::ElfWriter writer(file.arch(), file.is_64(), ET_EXEC);
  writer.add_segment(ImageAddr{run.start.value}, run.bytes.size(), true, false, run.bytes);
  writer.set_symbols(symbols_in(file, bias, run));
  RINGSIDE_ASSIGN(auto part, elf::ElfFile::from_bytes(writer.write(), ""));
  return elf::Image{.name = kernel.name, .file = std::move(part), .from_guest = true};
}

}  // namespace ringside::session
