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

// The BPF programs, trampolines and dispatchers that a running Linux kernel has compiled, as images
// made of the guest's memory: their code, with the names that the kernel keeps for kallsyms
// (bpf_prog_<tag>_<name>).
//
// Each has a struct bpf_ksym (include/linux/bpf.h, 5.7 and later): start, end, name[KSYM_NAME_LEN],
// lnode. The structure is found by what it looks like, so that no types are needed.
class BpfCode {
 public:
  // `lists`: where the kernel's variable `bpf_kallsyms` may be; the first that leads to such a
  // structure and back is taken for it.
  BpfCode(std::vector<GuestVirt> lists, Arch arch) : list_(std::move(lists), arch), arch_(arch) {}

  // Code that was compiled since the last call; all of it at the first. One read while nothing has
  // changed. The guest may run meanwhile: what cannot be read now comes with a later call. At most
  // 64 MiB are taken in all. Errors: those of `memory`.
  [[nodiscard]] Result<std::vector<elf::Image>> poll(VirtualMemory& memory);

 private:
  struct Ksym {
    GuestVirt start;
    GuestVirt end;
    std::string name;
    GuestVirt next;
    bool operator==(const Ksym&) const = default;
  };
  // The structure whose lnode is at `entry`; nothing where none looks like that.
  [[nodiscard]] Result<std::optional<Ksym>> read(GuestVirt entry, VirtualMemory& memory);
  [[nodiscard]] Result<std::optional<Ksym>> read(GuestVirt entry, std::uint64_t name_bytes,
                                                 VirtualMemory& memory) const;
  [[nodiscard]] Result<std::optional<elf::Image>> image_of(const Ksym& ksym,
                                                           VirtualMemory& memory) const;

  ListHead list_;
  Arch arch_;
  std::uint64_t name_bytes_ = 0;  // KSYM_NAME_LEN, once it is determined
  // The words of the list's head when all of it had been read.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> head_;
  std::map<std::uint64_t, std::pair<GuestVirt, std::string>> taken_;  // by the address of lnode
  std::uint64_t bytes_left_ = 64u << 20;
};

}  // namespace ringside::guestos
