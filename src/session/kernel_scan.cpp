#include "session/kernel_scan.h"

#include <algorithm>
#include <map>

#include "symbols/linux_image/linux_image.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kChunk = 64 * 1024;  // the finest alignment of kernels' segments
constexpr std::uint64_t kReach = 64 << 20;

// Parts of itself that the kernel has unmapped are looked over: x86_64's padding between code and
// data, and its init sections. Elsewhere device memory may be mapped close to the kernel.
std::uint64_t longest_hole(Arch arch) { return arch == Arch::kX86_64 ? 8 << 20 : 0; }

// i386 maps all memory from physical address 0 on at PAGE_OFFSET, video memory at 640 KiB included.
std::uint64_t lowest_address(Arch arch) { return arch == Arch::kI386 ? 0xc0100000 : 0; }

// What is mapped, by address.
using Memory = std::map<std::uint64_t, std::vector<std::byte>>;

// Reads a kernel's memory chunk after chunk in one direction, many chunks at once where it goes on:
// where a read stops the guest, that costs more than the bytes. Memory that ends within the many is
// looked at chunk by chunk. A read goes from lower to higher addresses: downwards many chunks are
// read only where holes are looked over anyway, for there may be one between them.
class ChunkReader {
 public:
  ChunkReader(Arch arch, std::uint64_t start, bool up, const elf::GuestReader& read)
      : at_(start), up_(up), reads_many_(up || longest_hole(arch) != 0), read_(&read) {}

  [[nodiscard]] std::uint64_t at() const { return at_; }
  // The chunk at at(), as much of it as is mapped, and goes on to the next.
  Result<std::vector<std::byte>> next();

 private:
  static constexpr std::size_t kMany = 16;

  Result<void> read_many();

  std::uint64_t at_;
  bool up_;
  bool reads_many_;
  const elf::GuestReader* read_;
  std::map<std::uint64_t, std::vector<std::byte>> ahead_;  // whole chunks
  std::size_t singly_ = 1;  // so many chunks are read one by one before many are tried
};

Result<void> ChunkReader::read_many() {
  const std::uint64_t first = up_ ? at_ : at_ - (kMany - 1) * kChunk;
  std::vector<std::byte> bytes(kMany * kChunk);
  RINGSIDE_ASSIGN(const std::size_t size, (*read_)({first}, bytes));
  for (std::size_t i = 0; (i + 1) * kChunk <= size; ++i) {
    const auto chunk = bytes.begin() + static_cast<std::ptrdiff_t>(i * kChunk);
    ahead_[first + i * kChunk].assign(chunk, chunk + kChunk);
  }
  if (size < bytes.size()) singly_ = kMany;
  return {};
}

Result<std::vector<std::byte>> ChunkReader::next() {
  if (reads_many_ && singly_ == 0 && !ahead_.contains(at_)) RINGSIDE_TRY(read_many());
  std::vector<std::byte> chunk(kChunk);
  if (const auto known = ahead_.find(at_); known != ahead_.end()) {
    chunk = std::move(known->second);
    ahead_.erase(known);
  } else {
    RINGSIDE_ASSIGN(const std::size_t size, (*read_)({at_}, chunk));
    chunk.resize(size);
    singly_ = std::max<std::size_t>(singly_, 1) - 1;
  }
  at_ = up_ ? at_ + kChunk : at_ - kChunk;
  return chunk;
}

// Reads on until nothing has been mapped for long.
Result<void> read_on(Arch arch, std::uint64_t start, bool up, const elf::GuestReader& read,
                     Memory& memory) {
  std::uint64_t last_mapped = start;
  ChunkReader chunks(arch, start, up, read);
  for (std::uint64_t done = 0; done < kReach; done += kChunk) {
    const std::uint64_t at = chunks.at();
    if (at < lowest_address(arch)) break;
    RINGSIDE_ASSIGN(auto chunk, chunks.next());
    const std::size_t size = chunk.size();
    if (size != 0) {
      memory[at] = std::move(chunk);
      last_mapped = at;
    }
    const std::uint64_t hole = up ? at - last_mapped : last_mapped - at;
    if (size < kChunk && (memory.empty() || hole >= longest_hole(arch))) break;
  }
  return {};
}

// Chunks that lie side by side become one piece.
Memory joined(Memory memory) {
  Memory pieces;
  for (auto& [at, chunk] : memory) {
    const auto last = pieces.empty() ? pieces.end() : std::prev(pieces.end());
    if (last != pieces.end() && last->first + last->second.size() == at)
      last->second.insert(last->second.end(), chunk.begin(), chunk.end());
    else
      pieces.emplace(at, std::move(chunk));
  }
  return pieces;
}

}  // namespace

Result<std::shared_ptr<const elf::ElfFile>> kernel_in_memory(Arch arch, GuestVirt pc,
                                                             const elf::GuestReader& read) {
  const std::uint64_t middle = pc.value - pc.value % kChunk;
  Memory memory;
  RINGSIDE_TRY(read_on(arch, middle, true, read, memory));
  if (!memory.contains(middle)) return nullptr;  // this memory cannot be read at all
  RINGSIDE_TRY(read_on(arch, middle - kChunk, false, read, memory));
  memory = joined(std::move(memory));
  std::vector<elf::KernelSegment> segments;
  for (const auto& [at, bytes] : memory) segments.push_back({{at}, bytes, bytes.size()});
  const auto image = symbols::read_linux_image(arch, std::move(segments));
  if (!image) return nullptr;
  return elf::ElfFile::from_bytes(symbols::make_elf(*image), "");
}

}  // namespace ringside::session
