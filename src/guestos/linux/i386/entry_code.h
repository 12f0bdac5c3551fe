#pragma once

#include <memory>

#include "guestos/linux/entry/entry_code.h"

namespace ringside::guestos {

[[nodiscard]] std::unique_ptr<EntryCode> i386_entry_code(const elf::Image& kernel,
                                                         const UserRegisters& pt_regs,
                                                         const TypeSource& types);

}  // namespace ringside::guestos
