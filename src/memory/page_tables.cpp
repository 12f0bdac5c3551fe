#include "memory/page_tables.h"

#include "arch/execution_mode.h"
#include "arch/x86.h"
#include "memory/aarch64/page_walk.h"
#include "memory/i386/page_walk.h"
#include "memory/riscv64/page_walk.h"
#include "memory/x86_64/page_walk.h"

namespace ringside::memory {
namespace {

template <class Tables>
std::unique_ptr<PageTables> make(const arch::Registers& registers) {
  const auto tables = Tables::of(registers);
  return tables ? std::make_unique<Tables>(*tables) : nullptr;
}

}  // namespace

std::unique_ptr<PageTables> page_tables_of(Arch arch, const arch::Registers& registers) {
  switch (arch) {
    case Arch::kX86_64:
      if (const auto legacy = arch::as_i386(registers))
        return make<i386::ProtectedModeTables>(*legacy);
      return make<x86_64::LongModeTables>(registers);
    case Arch::kI386:
      return make<i386::ProtectedModeTables>(registers);
    case Arch::kAArch64:
      return make<aarch64::StageOneTables>(registers);
    case Arch::kRiscv64:
      return make<riscv64::SupervisorTables>(registers);
    case Arch::kUnknown:
      break;
  }
  return nullptr;
}

}  // namespace ringside::memory
