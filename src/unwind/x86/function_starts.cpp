#include "unwind/x86/function_starts.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace ringside::unwind::x86 {
namespace {

// Of all executable segments, which may lie over each other in a damaged file.
constexpr std::size_t kMaxCode = std::size_t{256} << 20;
constexpr std::size_t kMaxStarts = std::size_t{8} << 20;
constexpr std::uint64_t kMaxFunction = 64 * 1024;
constexpr std::size_t kMaxJumpTargets = 8;

constexpr std::byte kCall{0xe8};  // with a displacement of 32 bits
constexpr std::byte kJump{0xe9};  // likewise
constexpr std::byte kReturn{0xc3};
constexpr std::byte kLea{0x8d};
constexpr std::uint8_t kCallSize = 5;  // and of the jump
// Calls to no more than so many bytes further on are none: position-independent i386 code learns
// its address by one, retpolines make the processor wait behind one.
constexpr std::uint64_t kMaxSelfCall = 7;
constexpr std::uint8_t kLeaSize = 7;

// lea displacement(%rip), register; the 64-bit form alone (Intel SDM volume 2, 2.2.1.6).
bool is_lea_of_pc(Bytes code) {
  const bool is_wide = code[0] == std::byte{0x48} || code[0] == std::byte{0x4c};
  return is_wide && code[1] == kLea && (code[2] & std::byte{0xc7}) == std::byte{0x05};
}

// Where the displacement leads that an instruction ends with.
ImageAddr target_of(Bytes instruction, ImageAddr address) {
  std::int32_t displacement = 0;
  const std::size_t at = instruction.size() - sizeof(displacement);
  std::memcpy(&displacement, instruction.data() + at, sizeof(displacement));
  return {address.value + instruction.size() +
          static_cast<std::uint64_t>(std::int64_t{displacement})};
}

void add(const elf::ElfFile& file, ImageAddr start, std::vector<ImageAddr>& starts) {
  if (starts.size() < kMaxStarts && file.is_code(start)) starts.push_back(start);
}

void sort_once(std::vector<ImageAddr>& starts) {
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
}

}  // namespace

FunctionStarts::FunctionStarts(const elf::ElfFile& file) {
  std::size_t room = kMaxCode;
  for (const elf::Segment& segment : file.segments()) {
    if (!segment.executable) continue;
    const Bytes code =
        file.bytes_at(segment.address, std::min<std::uint64_t>(segment.file_size, room));
    add_references(file, segment.address, code);
    room -= code.size();
  }
  add_relocations(file);
  for (const elf::FunctionSymbol& symbol : file.symbols()) symbols_.push_back(symbol.address);
  starts_.insert(starts_.end(), symbols_.begin(), symbols_.end());
  sort_once(starts_);
  sort_once(jumps_);
}

void FunctionStarts::add_references(const elf::ElfFile& file, ImageAddr start, Bytes code) {
  for (std::size_t at = 0; at + kLeaSize <= code.size(); ++at) {
    const ImageAddr address = start + at;
    if (code[at] == kCall) {
      const ImageAddr target = target_of(code.subspan(at, kCallSize), address);
      if (target - (address + kCallSize) > kMaxSelfCall) add(file, target, starts_);
    } else if (code[at] == kJump) {
      const ImageAddr target = target_of(code.subspan(at, kCallSize), address);
      if (may_begin(file, target)) add(file, target, jumps_);
    } else if (file.is_64() && is_lea_of_pc(code.subspan(at))) {
      add(file, target_of(code.subspan(at, kLeaSize), address), starts_);
    }
  }
}

// Of data, such as tables of functions; for what is linked to a fixed address there are none.
void FunctionStarts::add_relocations(const elf::ElfFile& file) {
  const auto relocations = file.section(".rela.dyn");
  if (!relocations || !file.is_64()) return;
  ByteReader reader(relocations->bytes);
  while (const auto entry = reader.read_bytes(sizeof(Elf64_Rela))) {
    Elf64_Rela relocation;
    std::memcpy(&relocation, entry->data(), sizeof(relocation));
    if (relocation.r_info == R_X86_64_RELATIVE)
      add(file, {static_cast<std::uint64_t>(relocation.r_addend)}, starts_);
  }
}

std::optional<CodeRange> FunctionStarts::find(ImageAddr at) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
  if (next == starts_.begin()) return std::nullopt;
  const ImageAddr start = *std::prev(next);
  if (is_symbol(start)) return std::nullopt;
  return up_to_next(start);
}

std::vector<CodeRange> FunctionStarts::find_jumped_to(ImageAddr at) const {
  std::vector<CodeRange> found;
  auto next = std::upper_bound(jumps_.begin(), jumps_.end(), at);
  const auto start = std::upper_bound(starts_.begin(), starts_.end(), at);
  while (next != jumps_.begin() && found.size() < kMaxJumpTargets) {
    --next;
    if (start != starts_.begin() && *next <= *std::prev(start)) break;
    found.push_back(up_to_next(*next));
  }
  return found;
}

CodeRange FunctionStarts::up_to_next(ImageAddr start) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), start);
  const std::uint64_t size = next == starts_.end() ? kMaxFunction : *next - start;
  return {start, std::min(size, kMaxFunction)};
}

bool FunctionStarts::is_symbol(ImageAddr start) const {
  return std::binary_search(symbols_.begin(), symbols_.end(), start);
}

bool FunctionStarts::contains(ImageAddr start) const {
  return std::binary_search(starts_.begin(), starts_.end(), start);
}

bool FunctionStarts::may_begin(const elf::ElfFile& file, ImageAddr start) {
  constexpr std::uint64_t kAlignment = 16;
  if (start.value % kAlignment == 0) return true;
  const Bytes before = file.bytes_at({start.value - kCallSize}, kCallSize);
  if (before.size() < kCallSize) return false;
  return before.back() == kReturn || before.front() == kJump || before.front() == kCall;
}

}  // namespace ringside::unwind::x86
