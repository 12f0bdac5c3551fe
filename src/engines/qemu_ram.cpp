#include "engines/qemu_ram.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/read_text.h"

namespace ringside::engines {
namespace {

constexpr std::size_t kProbes = 24;
constexpr std::size_t kFewestProbes = 8;  // where nobody says that the block is there
constexpr std::array<std::size_t, 2> kPlacesToProbe{
    512, 16384};  // in each range; a guest may be nearly empty
constexpr std::size_t kProbeBytes = 64;
constexpr std::size_t kMaxCandidates = 8;
constexpr std::size_t kMostProbes = 64;
constexpr std::uint64_t kSmallestSearched = 1u
                                            << 20;  // nearly every mapping could hold a small one

using Block = std::array<std::byte, kProbeBytes>;

bool is_zero(const Block& block) {
  return std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{}; });
}

// Places of a block that are not zero, spread over all of its ranges by their size.
Result<std::vector<GuestPhys>> find_probes(memory::RamBlockReader& reader,
                                           const std::vector<memory::RamRange>& ranges,
                                           std::size_t places) {
  std::uint64_t all_bytes = 0;
  for (const memory::RamRange& range : ranges) all_bytes += range.bytes;
  std::vector<GuestPhys> probes;
  for (const memory::RamRange& range : ranges) {
    if (probes.size() >= kMostProbes) break;
    std::vector<GuestPhys> here;
    const std::uint64_t stride = std::max<std::uint64_t>(range.bytes / places, kProbeBytes);
    for (std::uint64_t at = 0; at + kProbeBytes <= range.bytes; at += stride) {
      const std::uint64_t within = at & ~std::uint64_t{kProbeBytes - 1};
      const memory::RamOffset offset{range.offset + within};
      if (!reader.is_populated(offset)) continue;
      Block bytes{};
      RINGSIDE_ASSIGN(const std::size_t got, reader.read_up_to(offset, bytes));
      if (got == bytes.size() && !is_zero(bytes)) here.push_back(range.start + within);
    }
    const std::size_t wanted = 1 + kProbes * range.bytes / all_bytes;
    const std::size_t share = std::min(wanted, here.size());
    for (std::size_t i = 0; i < share; ++i) probes.push_back(here[i * here.size() / share]);
  }
  return probes;
}

// Not a device or a pipe, whose opening may have effects.
UniqueFd open_regular(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return file;
}

// The file behind a shared mapping: one that the process has open, for it may have no name.
UniqueFd open_mapped(pid_t process, const memory::HostMapping& mapping) {
  std::error_code error;
  using Entries = std::filesystem::directory_iterator;
  Entries entry(fmt::format("/proc/{}/fd", process), error);
  for (; !error && entry != Entries(); entry.increment(error)) {
    struct stat status {};
    if (::stat(entry->path().c_str(), &status) != 0 || status.st_ino != mapping.inode ||
        !S_ISREG(status.st_mode))
      continue;
    if (UniqueFd file = open_regular(entry->path()); file.valid()) return file;
  }
  return open_regular(mapping.path);
}

// `"/dev/shm/ram"` as qom-get prints it; empty where it says anything else.
std::string quoted_path(std::string_view text) {
  const std::size_t first = text.find("\"/");
  const std::size_t last = text.rfind('"');
  if (first == text.npos || last <= first + 1) return {};
  return std::string(text.substr(first + 1, last - first - 1));
}

}  // namespace

QemuRam::QemuRam(Access access) : access_(std::move(access)) {
  if (access_.qemu <= 0)
    explanation_ =
        "no QEMU of this user was found on this machine at the other end of the connection";
}

Result<void> QemuRam::read_map() {
  RINGSIDE_ASSIGN(const std::string tree, access_.monitor_command("info mtree -f"));
  RINGSIDE_ASSIGN(const std::string blocks, access_.monitor_command("info ramblock"));
  RINGSIDE_ASSIGN(auto map, memory::parse_ram_map(tree, blocks));
  if (map_ && map == *map_) return {};
  map_ = std::move(map);
  front_->behind = nullptr;
  direct_.reset();
  fallback_ = access_.make_fallback ? access_.make_fallback(map_->ranges) : nullptr;
  return {};
}

void QemuRam::read_mappings() {
  if (access_.qemu <= 0) return;
  mappings_ = memory::parse_mappings(read_text(fmt::format("/proc/{}/maps", access_.qemu)));
  if (mappings_.empty())
    explanation_ = fmt::format("the memory map of process {} cannot be read", access_.qemu);
}

void QemuRam::add_mapping(std::vector<Place>& places, const memory::HostMapping& mapping,
                          std::uint64_t address) const {
  places.push_back({std::make_unique<memory::ProcessBlock>(access_.qemu, address),
                    fmt::format("QEMU's own memory (process {})", access_.qemu)});
  if (!mapping.shared || mapping.inode == 0) return;
  UniqueFd file = open_mapped(access_.qemu, mapping);
  if (!file.valid()) return;
  const std::uint64_t start = mapping.file_offset + (address - mapping.start);
  places.push_back({std::make_unique<memory::FileBlock>(std::move(file), start),
                    fmt::format("the memory that QEMU shares ({})", mapping.path)});
}

// A backend's block has its name. Its file may be readable where QEMU's process is not.
void QemuRam::add_backend_file(std::vector<Place>& places, const memory::RamBlock& block) {
  const bool is_plain = std::all_of(block.name.begin(), block.name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!is_plain) return;
  const auto said =
      access_.monitor_command(fmt::format("qom-get /objects/{} mem-path", block.name));
  if (!said) return;
  const std::string path = quoted_path(*said);
  UniqueFd file = path.empty() ? UniqueFd() : open_regular(path);
  if (file.valid())
    places.push_back({std::make_unique<memory::FileBlock>(std::move(file), 0),
                      fmt::format("the memory that QEMU shares ({})", path)});
}

std::vector<QemuRam::Place> QemuRam::places_of(std::size_t number) {
  const memory::RamBlock& block = map_->blocks[number];
  std::vector<Place> places;
  if (block.host_address != 0) {
    const auto* mapping = memory::find_mapping(mappings_, block.host_address, block.bytes);
    if (mapping != nullptr) add_mapping(places, *mapping, block.host_address);
    for (Place& place : places) place.is_said = true;
  } else if (block.bytes >= kSmallestSearched) {
    auto candidates = memory::block_candidates(mappings_, block.bytes);
    candidates.resize(std::min(candidates.size(), kMaxCandidates));
    for (const memory::HostMapping& mapping : candidates)
      add_mapping(places, mapping, mapping.start);
  }
  add_backend_file(places, block);
  return places;
}

// A place may change between the two reads where the guest is not stopped for them: one in eight
// may differ.
Result<bool> QemuRam::is_the_same(std::size_t block, const Place& place) {
  std::vector<memory::RamRange> ranges;
  std::copy_if(map_->ranges.begin(), map_->ranges.end(), std::back_inserter(ranges),
               [block](const memory::RamRange& range) { return range.block == block; });
  memory::RamBlockReader& candidate = *place.reader;
  std::vector<GuestPhys> probes;
  for (const std::size_t places : kPlacesToProbe) {
    if (probes.size() >= kFewestProbes) break;
    auto found = find_probes(candidate, ranges, places);
    if (!found) return false;
    probes = std::move(*found);
  }
  if (probes.size() < (place.is_said ? 1 : kFewestProbes)) return false;
  std::size_t same = 0;
  const auto compare = [&](GuestPhys at, std::span<const std::byte> said) {
    const auto piece = memory::find_ram(ranges, at, kProbeBytes);
    Block mine{};
    if (!piece || piece->bytes < mine.size()) return;
    const auto got = candidate.read_up_to(memory::RamOffset{piece->offset}, mine);
    if (got && *got == mine.size() && said.size() == mine.size() &&
        std::equal(mine.begin(), mine.end(), said.begin()))
      ++same;
  };
  RINGSIDE_TRY(access_.visit_physical(probes, kProbeBytes, compare));
  return same >= probes.size() - probes.size() / 8;
}

// A place without a reader: none was found. Errors: those of the guest's connection.
Result<QemuRam::Place> QemuRam::find_block(std::size_t block) {
  for (Place& place : places_of(block)) {
    std::byte first{};
    const auto may_read = place.reader->read_up_to(memory::RamOffset{}, std::span(&first, 1));
    if (!may_read) {
      explanation_ = may_read.error().message;
      continue;
    }
    RINGSIDE_ASSIGN(const bool same, is_the_same(block, place));
    if (same) return std::move(place);
  }
  return Place{};
}

Result<void> QemuRam::find_blocks() {
  if (access_.qemu > 0)
    explanation_ =
        fmt::format("in process {} nothing is seen to be the guest's memory", access_.qemu);
  read_mappings();
  const auto& blocks = map_->blocks;
  const auto largest = static_cast<std::size_t>(
      std::max_element(blocks.begin(), blocks.end(),
                       [](const auto& a, const auto& b) { return a.bytes < b.bytes; }) -
      blocks.begin());
  RINGSIDE_ASSIGN(Place main, find_block(largest));
  if (!main.reader) return {};
  std::vector<std::unique_ptr<memory::RamBlockReader>> readers(blocks.size());
  readers[largest] = std::move(main.reader);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i == largest) continue;
    RINGSIDE_ASSIGN(Place place, find_block(i));
    readers[i] = std::move(place.reader);
  }
  explanation_ = main.name;
  direct_ = std::make_unique<memory::RamMemory>(map_->ranges, std::move(readers), fallback_.get());
  return {};
}

// The map, and where its blocks are, where they are not known or no longer right.
Result<void> QemuRam::poll_again() {
  const std::uint64_t now = access_.now_ns();
  if (now < next_try_ns_ || (direct_ && !direct_->take_missed())) return {};
  next_try_ns_ = now + try_again_after_ns_;
  try_again_after_ns_ *= 2;
  if (!map_ || direct_) {
    auto read = read_map();
    const bool is_known = read || read.error().code != ErrorCode::kUnsupported;
    if (!is_known && map_) return {};  // the one that was
    if (!is_known) unsupported_ = read.error();
    RINGSIDE_TRY(std::move(read));
  }
  return direct_ ? Result<void>() : find_blocks();
}

Result<PhysicalMemory*> QemuRam::find() {
  if (unsupported_) return tl::unexpected<Error>(*unsupported_);
  RINGSIDE_TRY(poll_again());
  front_->behind = direct_ ? direct_.get() : fallback_.get();
  if (front_->behind != nullptr) return front_.get();
  return fail(ErrorCode::kUnsupported, "no way to the guest's physical memory: {}", explanation_);
}

}  // namespace ringside::engines
