#include "session/kernel/memory_scan.h"

#include <algorithm>

namespace ringside::session {
namespace {

constexpr std::uint64_t kChunk = 64 * 1024;  // the finest alignment of kernels' segments

// Reads a kernel's memory chunk after chunk in one direction, many chunks at once where it goes on:
// where a read stops the guest, that costs more than the bytes. Memory that ends within the many is
// looked at chunk by chunk. A read goes from lower to higher addresses: downwards many chunks are
// read only where holes are looked over anyway, for there may be one between them.
class ChunkReader {
 public:
  // `count`: chunks, at most.
  ChunkReader(std::uint64_t start, bool up, bool reads_many, std::uint64_t count,
              VirtualMemory& memory)
      : at_(start), up_(up), reads_many_(reads_many), left_(count), memory_(&memory) {}

  [[nodiscard]] std::uint64_t at() const { return at_; }
  // The chunk at at(), as much of it as is mapped, and goes on to the next.
  Result<std::vector<std::byte>> next();

 private:
  static constexpr std::size_t kMany = 16;

  Result<void> read_many();

  std::uint64_t at_;
  bool up_;
  bool reads_many_;
  std::uint64_t left_;
  VirtualMemory* memory_;
  std::map<std::uint64_t, std::vector<std::byte>> ahead_;  // whole chunks
  std::size_t singly_ = 1;  // so many chunks are read one by one before many are tried
};

Result<void> ChunkReader::read_many() {
  const std::uint64_t first = up_ ? at_ : at_ - (kMany - 1) * kChunk;
  std::vector<std::byte> bytes(kMany * kChunk);
  RINGSIDE_ASSIGN(const std::size_t size, memory_->read_up_to({first}, bytes));
  for (std::size_t i = 0; (i + 1) * kChunk <= size; ++i) {
    const auto chunk = bytes.begin() + static_cast<std::ptrdiff_t>(i * kChunk);
    ahead_[first + i * kChunk].assign(chunk, chunk + kChunk);
  }
  if (size < bytes.size()) singly_ = kMany;
  return {};
}

Result<std::vector<std::byte>> ChunkReader::next() {
  if (reads_many_ && singly_ == 0 && left_ >= kMany && !ahead_.contains(at_))
    RINGSIDE_TRY(read_many());
  --left_;
  std::vector<std::byte> chunk(kChunk);
  if (const auto known = ahead_.find(at_); known != ahead_.end()) {
    chunk = std::move(known->second);
    ahead_.erase(known);
  } else {
    RINGSIDE_ASSIGN(const std::size_t size, memory_->read_up_to({at_}, chunk));
    chunk.resize(size);
    singly_ = std::max<std::size_t>(singly_, 1) - 1;
  }
  at_ = up_ ? at_ + kChunk : at_ - kChunk;
  return chunk;
}

// Reads on until nothing has been mapped for long.
Result<void> read_on(std::uint64_t start, bool up, const ScanReach& reach, VirtualMemory& memory,
                     MappedMemory& mapped) {
  std::uint64_t last_mapped = start;
  const std::uint64_t count = (up ? reach.up : reach.down) / kChunk;
  ChunkReader chunks(start, up, up || reach.longest_hole != 0, count, memory);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = chunks.at();
    if (at < reach.lowest || (!up && at > start)) break;
    RINGSIDE_ASSIGN(auto chunk, chunks.next());
    const std::size_t size = chunk.size();
    if (size != 0) {
      mapped[at] = std::move(chunk);
      last_mapped = at;
    }
    const std::uint64_t hole = up ? at - last_mapped : last_mapped - at;
    if (size < kChunk && (mapped.empty() || hole >= reach.longest_hole)) break;
  }
  return {};
}

// Chunks that lie side by side become one piece.
MappedMemory joined(MappedMemory chunks) {
  MappedMemory pieces;
  for (auto first = chunks.begin(); first != chunks.end();) {
    std::size_t size = 0;
    auto end = first;
    for (; end != chunks.end() && end->first == first->first + size; ++end)
      size += end->second.size();
    std::vector<std::byte>& piece = pieces[first->first];
    piece.reserve(size);
    for (; first != end; ++first)
      piece.insert(piece.end(), first->second.begin(), first->second.end());
  }
  return pieces;
}

}  // namespace

Result<MappedMemory> read_around(GuestVirt at, const ScanReach& reach, VirtualMemory& memory) {
  const std::uint64_t middle = at.value - at.value % kChunk;
  MappedMemory mapped;
  RINGSIDE_TRY(read_on(middle, true, reach, memory, mapped));
  if (!mapped.contains(middle)) return MappedMemory();  // this memory cannot be read at all
  RINGSIDE_TRY(read_on(middle - kChunk, false, reach, memory, mapped));
  return joined(std::move(mapped));
}

}  // namespace ringside::session
