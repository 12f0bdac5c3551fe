#include "unwind/x86/function_starts.h"

#include <elf.h>

#include <algorithm>

#include "base/little_endian.h"
#include "unwind/x86/padding.h"

namespace ringside::unwind::x86 {
namespace {

// Limits on the parts of a file, which may be damaged, that are examined: bytes of code, segments
// (linkers make one or two executable ones) and starts.
constexpr std::size_t kMaxCode = std::size_t{128} << 20;
constexpr std::size_t kMaxSegments = 8;
constexpr std::size_t kMaxStarts = std::size_t{1} << 20;
constexpr std::uint64_t kMaxFunction = 64 * 1024;
constexpr std::size_t kMaxJumpTargets = 8;
constexpr std::size_t kMaxAround = 8;
constexpr std::uint64_t kAlignment = 16;  // of functions
constexpr std::uint64_t kMaxBack = 4096;

constexpr std::byte kCall{0xe8};  // with a displacement of 32 bits
constexpr std::byte kJump{0xe9};  // likewise
constexpr std::byte kReturn{0xc3};
constexpr std::byte kLea{0x8d};
constexpr std::byte kBreakpoint{0xcc};
constexpr std::byte kShortJump{0xeb};
constexpr std::byte kEscape{0x0f};
constexpr std::byte kUndefined{0x0b};  // behind the escape
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
  const auto displacement =
      load<std::int32_t>(instruction, instruction.size() - sizeof(std::int32_t));
  return {address.value + instruction.size() +
          static_cast<std::uint64_t>(std::int64_t{displacement})};
}

// Whether code ends with padding, or with what does not go on: ret, int3, ud2, a jump, a call that
// may not return.
bool ends_code(Bytes code) {
  const auto last = [code](std::size_t n) {
    return n <= code.size() ? code[code.size() - n] : std::byte{};
  };
  const std::byte end = last(1);
  return code.empty() || end == kReturn || end == kBreakpoint || last(2) == kShortJump ||
         (last(2) == kEscape && end == kUndefined) || last(kCallSize) == kJump ||
         last(kCallSize) == kCall || ends_with_padding(code);
}

void sort_once(std::vector<ImageAddr>& starts) {
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  starts.shrink_to_fit();
}

}  // namespace

FunctionStarts::FunctionStarts(const elf::ElfFile& file) {
  std::size_t room = kMaxCode;
  for (const elf::Segment& segment : file.segments()) {
    if (!segment.executable || code_.size() == kMaxSegments) continue;
    const std::size_t size = std::min<std::uint64_t>(segment.file_size, room);
    code_.push_back({segment.address, file.bytes_at(segment.address, size)});
    room -= code_.back().bytes.size();
  }
  for (const Code& code : code_) add_references(file, code);
  add_relocations(file);
  for (const elf::FunctionSymbol& symbol : file.symbols()) symbols_.push_back(symbol.address);
  starts_.insert(starts_.end(), symbols_.begin(), symbols_.end());
  sort_once(starts_);
  sort_once(jumps_);
}

const FunctionStarts::Code* FunctionStarts::code_at(ImageAddr address) const {
  for (const Code& code : code_)
    if (address - code.start < code.bytes.size()) return &code;
  return nullptr;
}

void FunctionStarts::add(ImageAddr start, std::vector<ImageAddr>& starts) const {
  if (starts.size() < kMaxStarts && code_at(start) != nullptr) starts.push_back(start);
}

void FunctionStarts::add_references(const elf::ElfFile& file, const Code& code) {
  const Bytes bytes = code.bytes;
  for (std::size_t at = 0; at + kLeaSize <= bytes.size(); ++at) {
    const ImageAddr address = code.start + at;
    if (bytes[at] == kCall) {
      const ImageAddr target = target_of(bytes.subspan(at, kCallSize), address);
      if (target - (address + kCallSize) > kMaxSelfCall) add(target, starts_);
    } else if (bytes[at] == kJump) {
      const ImageAddr target = target_of(bytes.subspan(at, kCallSize), address);
      if (may_begin(target)) add(target, jumps_);
    } else if (file.is_64() && is_lea_of_pc(bytes.subspan(at))) {
      add(target_of(bytes.subspan(at, kLeaSize), address), starts_);
    }
  }
}

// Adds the targets of data's relocations, such as tables of functions; a file linked to a fixed
// address has none.
void FunctionStarts::add_relocations(const elf::ElfFile& file) {
  const auto relocations = file.section(".rela.dyn");
  if (!relocations || !file.is_64()) return;
  ByteReader reader(relocations->bytes);
  while (const auto entry = reader.read_bytes(sizeof(Elf64_Rela))) {
    const auto relocation = load<Elf64_Rela>(*entry);
    if (relocation.r_info == R_X86_64_RELATIVE)
      add({static_cast<std::uint64_t>(relocation.r_addend)}, starts_);
  }
}

std::optional<CodeRange> FunctionStarts::find(ImageAddr at) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
  if (next == starts_.begin()) return std::nullopt;
  const ImageAddr start = *std::prev(next);
  if (is_symbol(start)) return std::nullopt;
  const CodeRange range = up_to_next(start);
  return range.contains(at) ? std::optional(range) : std::nullopt;
}

std::vector<CodeRange> FunctionStarts::find_around(ImageAddr at) const {
  std::vector<CodeRange> found;
  auto start = std::upper_bound(starts_.begin(), starts_.end(), at);
  while (start != starts_.begin() && found.size() < kMaxAround) {
    --start;
    if (at - *start >= kMaxFunction || is_symbol(*start)) break;
    found.push_back(over(*start, at));
  }
  return found;
}

std::vector<CodeRange> FunctionStarts::find_padded(ImageAddr at) const {
  std::vector<CodeRange> found;
  const Code* const code = code_at(at);
  if (code == nullptr) return found;
  for (std::uint64_t back = at.value % kAlignment; back < kMaxBack; back += kAlignment) {
    const std::uint64_t offset = at - code->start - back;
    if (back > at - code->start || found.size() == kMaxAround) break;
    const ImageAddr start = code->start + offset;
    if (!contains(start) && ends_code(code->bytes.first(offset))) found.push_back(over(start, at));
  }
  return found;
}

CodeRange FunctionStarts::over(ImageAddr start, ImageAddr at) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
  const Code* const code = code_at(start);
  std::uint64_t size = kMaxFunction;
  if (next != starts_.end()) size = std::min(size, *next - start);
  if (code != nullptr) size = std::min(size, code->bytes.size() - (start - code->start));
  return {start, size};
}

std::vector<CodeRange> FunctionStarts::find_jumped_to(ImageAddr at) const {
  std::vector<CodeRange> found;
  auto next = std::upper_bound(jumps_.begin(), jumps_.end(), at);
  const auto start = std::upper_bound(starts_.begin(), starts_.end(), at);
  while (next != jumps_.begin() && found.size() < kMaxJumpTargets) {
    --next;
    if (start != starts_.begin() && *next <= *std::prev(start)) break;
    const CodeRange range = up_to_next(*next);
    if (!range.contains(at)) break;
    found.push_back(range);
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

bool FunctionStarts::may_begin(ImageAddr start) const {
  const Code* const code = code_at(start);
  if (code == nullptr) return false;
  if (start.value % kAlignment == 0) return true;
  const std::uint64_t offset = start - code->start;
  if (offset < kCallSize) return false;
  const Bytes before = code->bytes.subspan(offset - kCallSize, kCallSize);
  return before.back() == kReturn || before.front() == kJump || before.front() == kCall;
}

std::uint64_t FunctionStarts::code_bytes() const {
  std::uint64_t bytes = 0;
  for (const Code& code : code_) bytes += code.bytes.size();
  return bytes;
}

std::size_t FunctionStarts::memory_use() const {
  return (starts_.capacity() + jumps_.capacity() + symbols_.capacity()) * sizeof(ImageAddr);
}

}  // namespace ringside::unwind::x86
