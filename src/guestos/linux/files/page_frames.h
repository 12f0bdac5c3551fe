#pragma once

#include <optional>

#include "elf/image_map.h"
#include "guestos/guest_memory.h"
#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/linux_types.h"

namespace ringside::guestos {

// From the kernel's struct page to the memory it stands for. The structures lie in one array, whose
// place depends on architecture, configuration and chance (KASLR).
class PageFrames {
 public:
  // `first` would be the struct page of physical address 0.
  PageFrames(GuestVirt first, std::uint64_t struct_size, std::uint64_t page_size)
      : first_(first), struct_size_(struct_size), page_size_(page_size) {}

  // By the kernel's variable vmemmap_base (x86_64) or mem_map (a kernel for flat memory). Else,
  // with CONFIG_VMAP_STACK, by the pages of the stack of `task`, a struct task_struct but not the
  // first one: they are known both ways. Error kUnsupported where neither is there, kDisturbed
  // where the stack's pages contradict each other; and those of `memory`.
  [[nodiscard]] static Result<PageFrames> find(const LinuxTypes& types, const elf::Image& kernel,
                                               GuestSpace& memory, GuestVirt task);

  // Nothing where `page` is not in the array.
  [[nodiscard]] std::optional<GuestPhys> address_of(GuestVirt page) const;
  [[nodiscard]] std::uint64_t struct_size() const { return struct_size_; }
  bool operator==(const PageFrames&) const = default;

 private:
  GuestVirt first_;
  std::uint64_t struct_size_;
  std::uint64_t page_size_;
};

}  // namespace ringside::guestos
