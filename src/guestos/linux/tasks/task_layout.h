#pragma once

#include <array>
#include <cstdint>

#include "guestos/linux/types/linux_types.h"

namespace ringside::guestos {

// From the first of some members of a struct to the end of the last: what is copied of it.
struct Window {
  std::uint32_t start = 0;  // bytes from the start of the struct
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t size() const { return end - start; }
};

[[nodiscard]] inline Window window_of(const Field& field) { return {field.offset, field.end()}; }
[[nodiscard]] Window task_window(const TaskFields& task);
[[nodiscard]] Window space_window(const LinuxTypes& types);
// The members of struct inode in FileIdentity, but the generation, which lies far behind the rest.
[[nodiscard]] Window inode_window(const InodeFields& inode);

// The members that distinguish an address space, beside the address of its struct mm_struct.
[[nodiscard]] std::array<Field, 4> fields_of_space(const MmFields& mm);
// On i386 user code's pc may be in the vDSO without being said anywhere else.
[[nodiscard]] bool needs_vdso(const LinuxTypes& types);

}  // namespace ringside::guestos
