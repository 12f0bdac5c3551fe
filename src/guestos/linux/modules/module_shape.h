#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::guestos {

// Contents of a struct module (include/linux/module.h) of the guest's kernel. Its fields move with
// the kernel's version and configuration; these are found by what only they look like, so that no
// debug information of the kernel is needed:
//
// * `state`, `list` and `name` have been its first members since 2.6.
// * The memory that holds the code is described in front of the module's own address
//   (mod_tree_node.mod): base, size, text_size, ro_size, ro_after_init_size (struct module_layout,
//   4.8 to 6.3), or base and size (struct module_memory, 6.4 and later; text is the first).
// * The symbols (struct mod_kallsyms: symtab, num_symtab, strtab, typetab) lie behind a pointer to
//   themselves once the module runs (4.5 and later).
// * ORC's tables (struct mod_arch_specific of x86_64: num_orcs, orc_unwind_ip, orc_unwind) are a
//   number and two pointers as far apart as that number says. Others look like that too: what they
//   hold decides.
struct ModuleShape {
  std::string name;
  GuestVirt next;  // of the list: the next module's `list`
  bool is_live = false;
  GuestVirt text;
  std::uint64_t text_size = 0;  // bytes
  // 0 symbols if the kernel keeps none.
  GuestVirt symbols;  // Elf32_Sym or Elf64_Sym, with addresses of the running module
  std::uint64_t symbol_count = 0;
  GuestVirt strings;
  std::uint64_t strings_size = 0;  // bytes, 0: not known
  struct Orc {
    GuestVirt ip;
    GuestVirt entries;
    std::uint64_t count = 0;
  };
  std::vector<Orc> maybe_orc = {};  // a few
};

// How much of a struct module to read; fewer bytes may be there.
inline constexpr std::size_t kModuleBytes = 2048;

// `bytes` were read at `at`. Nothing where they are no struct module. Addresses are not followed;
// code lies within 2 GiB of the struct, and sizes are at most 64 MiB.
[[nodiscard]] std::optional<ModuleShape> read_module_shape(Bytes bytes, GuestVirt at, bool is_64);

// Where struct module's `list` is in it.
[[nodiscard]] constexpr std::uint64_t module_list_offset(bool is_64) { return is_64 ? 8 : 4; }

}  // namespace ringside::guestos
