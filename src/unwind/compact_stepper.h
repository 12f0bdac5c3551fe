#pragma once

#include <cstdint>
#include <cstring>

#include "arch/arch_info.h"
#include "elf/image_map.h"
#include "unwind/compact_rule.h"
#include "unwind/machine_state.h"
#include "wire/capture.h"

namespace ringside::unwind {

// The registers that compact rules know, of one frame.
struct Frontier {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t fp = 0;
  std::uint64_t link = 0;
  bool exact = true;
  bool has_fp = false;
  bool has_link = false;

  [[nodiscard]] bool has_zero_fp() const { return has_fp && fp == 0; }
};

[[nodiscard]] Frontier frontier_of(const wire::Capture& capture, const arch::ArchInfo& platform);
[[nodiscard]] Frontier frontier_of(const MachineState& state);

// Steps from frame to frame of one capture by compact rules.
class CompactStepper {
 public:
  enum class Outcome : std::uint8_t {
    kStep,
    kNoCaller,  // the return address is 0; the frontier's stack pointer is the CFA
    kUserMode,
    kGiveUp,  // only a walk that tracks all registers can decide
  };

  // `images` are those of the code that hardware may have interrupted.
  CompactStepper(const wire::Capture& capture, const arch::ArchInfo& platform,
                 const elf::ImageMap& images);

  // Calls for the first bytes of a stack.
  void start(const Frontier& at) { reader_.prefetch_from(at.sp); }
  // `rule` is a kCall or a kFrame. Does not judge the caller's pc.
  [[nodiscard]] Outcome step(const CompactRule& rule, Frontier& at);
  // The same by a rule that is_plain. False, and `at` as it was: step() has to decide.
  [[nodiscard]] bool step_plain(const CompactRule& rule, Frontier& at);

 private:
  // Reads words of the capture's pieces; the piece that the last word came from is tried first.
  class PieceReader {
   public:
    PieceReader(const wire::Capture& capture, std::size_t word) : capture_(capture), word_(word) {}

    [[nodiscard]] bool read(std::uint64_t address, std::uint64_t& value) {
      if (address - start_ >= places_ && !find(address)) return false;
      const std::byte* const at = data_ + (address - start_);
      if (word_ == 8) {
        std::memcpy(&value, at, 8);
      } else {
        value = 0;
        std::memcpy(&value, at, 4);
      }
      return true;
    }
    void prefetch_from(std::uint64_t address);
    // For one line, at a step.
    void prefetch_ahead_of(std::uint64_t address) const {
      const std::uint64_t offset = address - start_ + kAhead;
      if (offset < places_) __builtin_prefetch(data_ + offset);
    }

   private:
    // How far ahead of the walk stack bytes are called for: they were written by another thread,
    // and a walk waits for them longer than for anything else.
    static constexpr std::size_t kAhead = 512;

    [[nodiscard]] [[gnu::noinline]] bool find(std::uint64_t address);

    const wire::Capture& capture_;
    std::size_t word_;
    std::uint64_t start_ = 0;
    std::uint64_t places_ = 0;  // where a word begins that is in the piece
    const std::byte* data_ = nullptr;
  };

  [[nodiscard]] std::uint64_t place(std::uint64_t base, std::int64_t offset) const {
    return (base + static_cast<std::uint64_t>(offset)) & mask_;
  }
  // Whether a slot was popped already, or not pushed yet, though a rule has it: see step.cpp.
  [[nodiscard]] static bool is_below(std::uint64_t slot, std::uint64_t sp) {
    return slot < sp && sp - slot < 4096;
  }
  [[nodiscard]] bool frame_pointer(const CompactRule& rule, std::uint64_t cfa, Frontier& at);
  [[nodiscard]] bool is_hardware_frame(GuestVirt at);
  [[gnu::noinline]] void follow_link(std::uint64_t& sp);

  const arch::ArchInfo& platform_;
  const elf::ImageMap& images_;
  const wire::Capture& capture_;
  const std::uint64_t mask_;        // platform_.address_mask()
  const std::uint64_t misaligned_;  // bits of a stack pointer that are 0
  PieceReader reader_;
  std::uint64_t leaf_sp_;
  // Where a link to another stack may be: from the lowest slot on, so many bytes further.
  std::uint64_t first_link_ = ~std::uint64_t{0};
  std::uint64_t links_ = 0;
};

[[gnu::always_inline]] inline bool CompactStepper::step_plain(const CompactRule& rule,
                                                              Frontier& at) {
  const bool by_fp = rule.base == CompactRule::Base::kFramePointer;
  if ((by_fp && !at.has_fp) || at.sp - first_link_ <= links_) return false;
  const std::uint64_t cfa = place(by_fp ? at.fp : at.sp, rule.cfa_offset);
  std::uint64_t pc = 0;
  if (cfa <= at.sp || (cfa & misaligned_) != 0 || !reader_.read(place(cfa, rule.pc_offset), pc))
    return false;
  pc = platform_.signs_addresses ? platform_.code_address(pc) : pc & mask_;
  if (pc == 0) return false;
  if (rule.fp == CompactRule::Place::kSaved) {
    const std::uint64_t slot = place(cfa, rule.fp_offset);
    const bool is_as_it_was = at.exact && at.has_fp && is_below(slot, at.sp);
    if (!is_as_it_was && !reader_.read(slot, at.fp)) return false;
    at.has_fp = true;
  } else if (rule.fp == CompactRule::Place::kLost) {
    at.has_fp = false;
  }
  at.has_link = false;
  reader_.prefetch_ahead_of(cfa);
  at.pc = pc;
  at.sp = cfa;
  at.exact = false;
  return true;
}

}  // namespace ringside::unwind
