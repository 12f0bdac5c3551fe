#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/stack.h"
#include "base/types.h"
#include "wire/redox/ring_words.h"

namespace ringside::wire::redox {

// Words of a sample, as the kernel's handler has room for them (src/profiling.rs).
inline constexpr std::size_t kMostWords = 32;

// Four levels of page tables: what lies between is no address.
[[nodiscard]] constexpr bool is_kernel_address(std::uint64_t word) {
  return word >= 0xffff800000000000;
}
[[nodiscard]] constexpr bool is_user_address(std::uint64_t word) {
  return word < 0x0000800000000000;
}

struct RingSample {
  GuestVirt pc;
  std::uint64_t counter = 0;             // the time stamp counter
  std::optional<std::uint32_t> context;  // that ran; nothing in format A
  // Return addresses, leaf first: of the kernel, then of the user code that entered it.
  std::vector<GuestVirt> callers;
  StopReason stop = StopReason::kEndOfStack;
  GuestVirt stopped_at;  // the word that is no address, with kBadAddress

  [[nodiscard]] bool is_user() const { return is_user_address(pc.value); }
};

enum class Piece {
  kSample,
  kUnused,   // words that are 0: the kernel clears the ring when it makes it
  kLoose,    // words of samples whose beginning is not there
  kDamaged,  // begins as a sample does, and is none
};

struct Found {
  Piece piece = Piece::kUnused;
  std::size_t words = 0;  // that it takes, at least one
  // Why words of it are left out; null: none are, or kUnused and kLoose say enough.
  const char* fault = nullptr;
  std::size_t fault_at = 0;  // the first of these words
};

// Which piece begins at the word `at`, which is there; fills `sample` where it is one.
using FindPiece = Found (*)(const RingWords& words, std::size_t at, RingSample& sample);

// Format A, of kernels up to 2026-06-02: the pc with bit 63 cleared, the time stamp counter, 0 to
// 30 return addresses of the kernel.
[[nodiscard]] Found find_piece_a(const RingWords& words, std::size_t at, RingSample& sample);
// Format B, since 2026-06-03: 0xFEDFAC00 with the number of words in its last byte, the pc, the
// time stamp counter, the context's id or all ones, 0 to 28 return addresses.
[[nodiscard]] Found find_piece_b(const RingWords& words, std::size_t at, RingSample& sample);

// Whether a sample of format B begins with the word: nothing in format A looks like it.
[[nodiscard]] bool begins_sample_b(std::uint64_t word);

struct RingFormat {
  char letter = 'B';
  FindPiece find = nullptr;
  bool has_lengths = true;  // else a sample ends where the next one begins
};

}  // namespace ringside::wire::redox
