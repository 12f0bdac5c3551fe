#pragma once

#include <cstdint>

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

 private:
  // Reads words of the capture's pieces; the piece that the last word came from is tried first.
  class PieceReader {
   public:
    PieceReader(const wire::Capture& capture, std::size_t word) : capture_(capture), word_(word) {}

    [[nodiscard]] bool read(std::uint64_t address, std::uint64_t& value);
    void prefetch_from(std::uint64_t address);
    // For one line, at a step.
    void prefetch_ahead_of(std::uint64_t address) const;

   private:
    [[nodiscard]] [[gnu::noinline]] bool find(std::uint64_t address);

    const wire::Capture& capture_;
    std::size_t word_;
    std::uint64_t start_ = 0;
    std::uint64_t size_ = 0;
    const std::byte* data_ = nullptr;
  };

  [[nodiscard]] std::uint64_t place(std::uint64_t base, std::int64_t offset) const {
    return (base + static_cast<std::uint64_t>(offset)) & platform_.address_mask();
  }
  [[nodiscard]] bool frame_pointer(const CompactRule& rule, std::uint64_t cfa, Frontier& at);
  [[nodiscard]] bool is_hardware_frame(GuestVirt at);
  [[gnu::noinline]] void follow_link(std::uint64_t& sp);

  const arch::ArchInfo& platform_;
  const elf::ImageMap& images_;
  const wire::Capture& capture_;
  PieceReader reader_;
  std::uint64_t leaf_sp_;
  // The lowest and the highest slot of a link to another stack, if there is any.
  std::uint64_t first_link_ = ~std::uint64_t{0};
  std::uint64_t last_link_ = 0;
};

}  // namespace ringside::unwind
