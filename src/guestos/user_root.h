#pragma once

#include <cstdint>
#include <optional>

#include "wire/capture.h"

namespace ringside::guestos {

// The register that has it, with the bits in it of the root: (register & mask) << shift.
struct RootField {
  std::uint8_t reg = wire::RegisterRoles::kNone;
  std::uint64_t mask = 0;
  unsigned shift = 0;
};
[[nodiscard]] RootField root_field(Arch arch);

// The root of the page tables that translate user addresses: physical, without the bits that say
// which process's translations are cached (PCID, ASID) or how. Nothing where the register was not
// read. x86: CR3 (Intel SDM vol. 3, 4.5); aarch64: TTBR0_EL1.BADDR, 48 bits (Arm ARM, D19.2.152);
// riscv64: satp.PPN (privileged specification, "Supervisor Address Translation and Protection").
[[nodiscard]] std::optional<std::uint64_t> user_root(const wire::Capture& capture);

}  // namespace ringside::guestos
