#pragma once

#include <functional>

#include "elf/elf_file.h"

namespace ringside::guestos {

// Reports the addresses that instructions of `code` form in a register or on the stack, to go there
// later: by a return or an indirect jump. Some may be none: on x86 the bytes of an instruction may
// be a part of another one. Addresses that lie in memory are not reported.
void find_formed_addresses(Arch arch, const elf::CodeRange& code,
                           const std::function<void(ImageAddr)>& found);

}  // namespace ringside::guestos
