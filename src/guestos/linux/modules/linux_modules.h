#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_reader.h"
#include "base/result.h"
#include "elf/image_map.h"
#include "guestos/linux/modules/list_head.h"

namespace ringside::guestos {

// The modules that a running Linux kernel has loaded, as images made of what the guest's memory
// holds: their code as it runs there, the functions that the kernel keeps for kallsyms, and
// x86_64's ORC. So frames in modules are unwound and named without the modules' files.
class LinuxModules {
 public:
  // `lists`: where the kernel's variable `modules` may be; the first that leads to a module and
  // back is taken for it. `orc_header`: the kernel has a section .orc_header.
  LinuxModules(std::vector<GuestVirt> lists, Arch arch, bool orc_header = false)
      : list_(std::move(lists), arch), arch_(arch), orc_header_(orc_header) {}

  // Modules that were loaded since the last call; every one at the first. Cheap while nothing has
  // changed: one read. The guest may run meanwhile: what is half-way through a change, or cannot
  // be read now, comes with a later call. At most 256 MiB are taken in all. Errors: those of
  // `memory`.
  [[nodiscard]] Result<std::vector<elf::Image>> poll(VirtualMemory& memory);

 private:
  struct Known {
    GuestVirt text;
    std::string name;
    bool operator==(const Known&) const = default;
  };
  [[nodiscard]] Result<bool> is_module(GuestVirt entry, VirtualMemory& memory) const;

  ListHead list_;
  Arch arch_;
  bool orc_header_;
  std::optional<std::uint64_t> newest_;   // head of the list when all of it had been read
  std::map<std::uint64_t, Known> known_;  // by the address of the struct module
  std::uint64_t bytes_left_ = 256u << 20;
};

}  // namespace ringside::guestos
