#include "session/kernel/stack_words.h"

#include <algorithm>
#include <array>

#include "arch/arch_info.h"
#include "base/little_endian.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kPage = 4096;

bool has_page_of(const std::vector<GuestVirt>& words, GuestVirt at) {
  return std::any_of(words.begin(), words.end(),
                     [at](GuestVirt other) { return at.value / kPage == other.value / kPage; });
}

// Addresses elsewhere in that half of all addresses in which the pc is.
class Elsewhere {
 public:
  explicit Elsewhere(const wire::Capture& capture)
      : roles_(arch::roles_of(capture.arch)), pc_{capture.registers.get(roles_.pc)} {}

  [[nodiscard]] bool has(GuestVirt word, GuestVirt stack) const {
    return half_of(word) == half_of(pc_) && !is_near(word, pc_) && !is_near(word, stack);
  }

 private:
  [[nodiscard]] std::uint64_t half_of(GuestVirt at) const {
    return at.value >> (8 * roles_.pointer_size - 1);
  }
  [[nodiscard]] static bool is_near(GuestVirt a, GuestVirt b) {
    constexpr std::uint64_t kNear = 64 << 10;
    return a.value - b.value + kNear < 2 * kNear;
  }

  arch::RegisterRoles roles_;
  GuestVirt pc_;
};

// bl, and blr with its forms that check a signature (Arm ARM, C6.2.35 to C6.2.37).
bool is_call(std::uint32_t word) {
  return (word & 0xfc000000) == 0x94000000 || (word & 0xfefff800) == 0xd63f0000;
}

Result<bool> follows_call(GuestVirt at, VirtualMemory& memory) {
  std::array<std::byte, 4> bytes{};
  RINGSIDE_ASSIGN(const std::size_t got, memory.read_up_to(at - bytes.size(), bytes));
  return got == bytes.size() && is_call(load<std::uint32_t>(bytes, 0));
}

}  // namespace

std::vector<GuestVirt> code_on_stack(const wire::Capture& capture) {
  constexpr std::size_t kMost = 32;
  const unsigned size = arch::roles_of(capture.arch).pointer_size;
  const Elsewhere elsewhere(capture);
  std::vector<GuestVirt> words;
  for (const wire::MemoryPiece& piece : capture.pieces) {
    if (piece.why != wire::PieceKind::kCurrentStack) continue;
    const Bytes bytes = Bytes(capture.bytes).subspan(piece.offset, piece.size);
    for (std::size_t at = 0; at + size <= bytes.size() && words.size() < kMost; at += size) {
      const GuestVirt word{load_unsigned(bytes, at, size)};
      if (elsewhere.has(word, piece.address) && !has_page_of(words, word)) words.push_back(word);
    }
  }
  return words;
}

Result<std::vector<GuestVirt>> calls_below_stack(const wire::Capture& capture,
                                                 VirtualMemory& memory) {
  constexpr std::size_t kBytes = 1024;  // struct pt_regs and a few functions below it
  constexpr std::size_t kMost = 4;
  std::vector<GuestVirt> calls;
  if (capture.arch != Arch::kAArch64) return calls;
  const arch::ArchInfo& info = arch::info_of(capture.arch);
  const GuestVirt sp{capture.registers.get(info.roles.sp)};
  const Elsewhere elsewhere(capture);
  std::array<std::byte, kBytes> bytes{};
  RINGSIDE_ASSIGN(const std::size_t got, memory.read_up_to(sp - kBytes, bytes));
  if (got < kBytes) return calls;
  for (std::size_t at = kBytes; at >= 8 && calls.size() < kMost; at -= 8) {
    const GuestVirt word{info.code_address(load<std::uint64_t>(bytes, at - 8))};
    if (word.value % 4 != 0 || !elsewhere.has(word, sp) || has_page_of(calls, word)) continue;
    RINGSIDE_ASSIGN(const bool is_return, follows_call(word, memory));
    if (is_return) calls.push_back(word);
  }
  return calls;
}

}  // namespace ringside::session
