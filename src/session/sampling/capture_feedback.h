#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/stack.h"
#include "base/types.h"
#include "guestos/stack_recipe.h"
#include "unwind/user/user_entry.h"
#include "wire/capture.h"
#include "wire/recipe.h"

namespace ringside::session {

// How many bytes of stack to copy from one vCPU in one mode. Doubled after a walk that ran out of
// bytes, and let go of slowly, so that one deep stack does not make every later sample dear.
class StackBudget {
 public:
  explicit StackBudget(std::uint32_t start_bytes) : floor_(start_bytes), bytes_(start_bytes) {}

  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  void walked(bool truncated);

 private:
  // A walk in this many that is not truncated takes an eighth of what was added away.
  static constexpr std::uint32_t kDecayAfter = 256;

  std::uint32_t floor_;
  std::uint32_t bytes_;
  std::uint32_t since_change_ = 0;
};

// Feedback from unwinding to capturing: stack sizes per (vCPU, mode), links to other stacks of the
// kernel per vCPU, and to user stacks for all vCPUs. Written by the thread that unwinds, read by
// the one that samples.
class CaptureFeedback {
 public:
  // So many kernel stacks without a traced function in a row, and nothing is copied for tracers.
  static constexpr std::uint32_t kUntracedStacks = 4096;

  // `fixed` switches the adapting of sizes off.
  CaptureFeedback(std::size_t vcpus, std::uint32_t stack_bytes, bool fixed);

  // `stack` is what unwinding made of `capture`: of the kernel's part, where there are two.
  void learn(const wire::Capture& capture, const Stack& stack);
  // How user code entered the kernel, of the same capture: the next one copies its stack.
  void learn_entry(const wire::Capture& capture, const unwind::UserEntry& entry);
  // Where firmware keeps the registers of the code that it interrupts (Capture::firmware).
  void learn_firmware(VcpuId vcpu, GuestVirt frame);
  // Adapts the size of user stacks to the user code's part, as learn() adapts the kernel's.
  void learn_user(VcpuId vcpu, const Stack& stack);

  // The guest has booted again: its stacks are elsewhere.
  void forget_links();

  struct Advice {
    wire::RecipeBudget kernel;
    wire::RecipeBudget user;
    std::vector<guestos::LearntLink> links;  // slots that hold the stack pointer of another stack
    std::optional<GuestVirt> firmware_frame;
    bool hooked_returns = false;  // tracers put return addresses away, in this guest
  };
  [[nodiscard]] Advice advice(VcpuId vcpu) const;
  // Grows with every new link, so that a recipe is made anew only then.
  [[nodiscard]] std::uint64_t link_generation() const;

 private:
  void learn_hooked_returns(HookedReturns seen);

  struct Vcpu {
    StackBudget kernel;
    StackBudget user;
    std::vector<guestos::LearntLink> links = {};
    std::optional<GuestVirt> firmware_frame = {};
  };
  // Every thread that has user code has a stack in the kernel.
  struct UserSlot {
    GuestVirt slot;
    std::uint64_t last_use = 0;
  };

  mutable std::mutex mutex_;
  std::vector<Vcpu> vcpus_;
  std::vector<UserSlot> user_slots_;  // of all vCPUs: threads move
  std::uint64_t uses_ = 0;
  bool fixed_;
  // Kernel stacks that may still have no return address that a tracer has put away; 0: where those
  // are is not copied.
  std::uint32_t hooked_returns_for_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace ringside::session
