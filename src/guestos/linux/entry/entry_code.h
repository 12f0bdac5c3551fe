#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elf/image_map.h"
#include "guestos/linux/types/linux_types.h"
#include "guestos/linux/types/per_cpu.h"
#include "guestos/linux/types/type_source.h"
#include "wire/capture.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// User code's registers while the kernel's entry code saves them, or gives them back: in part they
// are in the vCPU still, or again, and the stack may be one that is for that alone.
class EntryCode {
 public:
  // Memory that was copied with a capture.
  struct Copied {
    const wire::MemoryPiece* saved = nullptr;  // struct pt_regs at the end of the task's stack
    std::optional<GuestVirt> vdso;             // where the process has it
  };

  // The entry code of a kernel, which must outlive it; null for an architecture
  // that is not known.
  [[nodiscard]] static std::unique_ptr<EntryCode> of(const elf::Image& kernel,
                                                     const UserRegisters& pt_regs,
                                                     const TypeSource& types);
  virtual ~EntryCode() = default;
  // Finds what a CPU has of its own. False if that is not there yet.
  [[nodiscard]] virtual Result<bool> find(std::size_t /*cpu*/, const PerCpu& /*per_cpu*/,
                                          VirtualMemory& /*read*/) {
    return true;
  }
  // In kernel mode: leaves user code's stack pointer in `sp` where struct pt_regs may not have it.
  // Elsewhere goes to `nothing`.
  virtual void find_user_stack(wire::RecipeBuilder& recipe, VcpuId vcpu,
                               wire::RecipeBuilder::Slot sp,
                               wire::RecipeBuilder::Label nothing) const = 0;
  // Nothing where they are not known.
  [[nodiscard]] virtual std::optional<arch::Registers> user_registers(
      const wire::Capture& capture, const Copied& copied) const = 0;
  // Where in the vDSO user code goes on whose pc user_registers() says is 0.
  [[nodiscard]] virtual std::optional<std::uint32_t> landing_pad() const { return std::nullopt; }
};

// A function of assembly that user code enters.
struct EntryFunction {
  GuestVirt start;
  std::uint64_t size = 0;  // bytes
  // Bytes before it has called the C function that does what it is for.
  std::uint64_t entry_path = 0;

  [[nodiscard]] bool has(GuestVirt pc) const { return pc - start < size; }
  [[nodiscard]] bool is_entry_path(GuestVirt pc) const { return pc - start < entry_path; }
};

// `registers` with those of the struct pt_regs at `frame` that lie at `from` or above it, by what
// was copied with a capture; without those that were not.
[[nodiscard]] arch::Registers with_saved(arch::Registers registers, const wire::Capture& capture,
                                         const unwind::RegisterFrame& pt_regs, GuestVirt frame,
                                         GuestVirt from = {});

}  // namespace ringside::guestos
