#pragma once

#include <vector>

#include "elf/elf_file.h"

namespace ringside::guestos {

// Where a kernel may have its list of modules, the variable `modules` of kernel/module/main.c. By
// its name, or, where kallsyms has none of data (no CONFIG_KALLSYMS_ALL, as Debian's arm64 and
// i386), every address in the kernel that find_module_all() and print_modules() make: both walk the
// list. Who reads there sees by what it finds which one it is. Empty on riscv64 without the name.
[[nodiscard]] std::vector<ImageAddr> find_module_lists(const elf::ElfFile& kernel);

// The same of its list of compiled BPF code, the variable `bpf_kallsyms` of kernel/bpf/core.c, with
// bpf_get_kallsym() and bpf_ksym_add().
[[nodiscard]] std::vector<ImageAddr> find_bpf_lists(const elf::ElfFile& kernel);

}  // namespace ringside::guestos
