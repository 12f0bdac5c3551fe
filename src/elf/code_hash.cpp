#include "elf/code_hash.h"

namespace ringside::elf {
namespace {

// draft-eastlake-fnv, "FNV-1a", 64 bits.
constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;
constexpr std::uint64_t kPrime = 0x100000001b3;

std::uint64_t add(std::uint64_t hash, std::byte byte) {
  return (hash ^ std::to_integer<std::uint64_t>(byte)) * kPrime;
}

std::uint64_t add(std::uint64_t hash, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    hash = add(hash, static_cast<std::byte>(number >> shift));
  return hash;
}

}  // namespace

std::uint64_t code_hash(const ElfFile& file) {
  std::uint64_t hash = kOffsetBasis;
  bool has_code = false;
  for (const Segment& segment : file.segments()) {
    if (!segment.executable) continue;
    const Bytes code = file.bytes_at(segment.address, segment.file_size);
    has_code |= !code.empty();
    hash = add(hash, segment.address.value);
    for (const std::byte byte : code) hash = add(hash, byte);
  }
  if (!has_code) return 0;
  return hash == 0 ? 1 : hash;
}

}  // namespace ringside::elf
