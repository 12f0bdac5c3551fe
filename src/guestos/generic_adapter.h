#pragma once

#include "guestos/adapter.h"

namespace ringside::guestos {

// Any kernel: copies the current stack, and the stacks that unwinding has found links to.
class GenericAdapter final : public Adapter {
 public:
  explicit GenericAdapter(Arch arch) : Adapter(arch) {}

  [[nodiscard]] std::string_view name() const override { return "generic"; }
  [[nodiscard]] std::vector<unwind::EntryLayout> entries() const override { return {}; }
  [[nodiscard]] Result<bool> prepare(std::size_t, const elf::GuestReader&) override { return true; }
  [[nodiscard]] bool adopt(Arch arch) override;
  [[nodiscard]] std::vector<wire::RecipeOp> recipe(
      VcpuId vcpu, std::span<const LearntLink> learnt) const override;
};

}  // namespace ringside::guestos
