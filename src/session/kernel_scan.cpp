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

// Reads chunk after chunk until nothing has been mapped for long.
Result<void> read_on(Arch arch, std::uint64_t start, bool up, const elf::GuestReader& read,
                     Memory& memory) {
  std::uint64_t last_mapped = start;
  for (std::uint64_t done = 0; done < kReach; done += kChunk) {
    const std::uint64_t at = up ? start + done : start - done;
    if (at < lowest_address(arch)) break;
    std::vector<std::byte> chunk(kChunk);
    RINGSIDE_ASSIGN(const std::size_t size, read({at}, chunk));
    if (size != 0) {
      chunk.resize(size);
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
