#pragma once

#include <optional>

#include "arch/arch_info.h"
#include "base/stack.h"
#include "elf/image_map.h"
#include "wire/capture.h"

namespace ringside::unwind {

// Why a word could not be read.
struct Miss {
  StopReason reason;
  GuestVirt address;
  std::optional<StackLink> link;
};

// The memory of one capture, with the read-only bytes of the images behind it.
class StackMemory {
 public:
  StackMemory(const wire::Capture& capture, const elf::ImageMap& images)
      : StackMemory(capture, images, capture.arch) {}
  // For code of another architecture than the captured vCPU's, whose pointers have another size.
  StackMemory(const wire::Capture& capture, const elf::ImageMap& images, Arch arch)
      : capture_(capture), images_(images), pointer_size_(arch::roles_of(arch).pointer_size) {}

  [[nodiscard]] std::optional<std::uint64_t> read_u64(GuestVirt address) const;
  // As many bytes as an address of the code has, zero-extended.
  [[nodiscard]] std::optional<std::uint64_t> read_pointer(GuestVirt address) const {
    return pointer_size_ == 8 ? read_u64(address) : read(address, pointer_size_);
  }
  // 1 to 8 bytes, zero-extended.
  [[nodiscard]] std::optional<std::uint64_t> read(GuestVirt address, std::size_t size) const;

  // Says why `address` cannot be read. `slot` is where the pointer to that stack was loaded from, 0
  // if it was not loaded; `position` how far the walk has come on its stack, nothing where that is
  // not known.
  [[nodiscard]] Miss explain(GuestVirt address, GuestVirt slot,
                             std::optional<GuestVirt> position = std::nullopt) const;

  // Whether both addresses lie in one copied piece, or both in none.
  [[nodiscard]] bool same_piece(GuestVirt a, GuestVirt b) const {
    return piece_at(a) == piece_at(b);
  }
  [[nodiscard]] const wire::MemoryPiece* piece_at(GuestVirt address) const;
  // The stack-link piece at exactly this address.
  [[nodiscard]] const wire::MemoryPiece* link_at(GuestVirt address) const;
  [[nodiscard]] const wire::Capture& capture() const { return capture_; }
  // The stack pointer of the captured vCPU.
  [[nodiscard]] std::optional<GuestVirt> captured_sp() const {
    const std::uint8_t sp = arch::roles_of(capture_.arch).sp;
    if (!capture_.registers.has(sp)) return std::nullopt;
    return GuestVirt{capture_.registers.get(sp)};
  }

 private:
  const wire::Capture& capture_;
  const elf::ImageMap& images_;
  std::size_t pointer_size_;
};

}  // namespace ringside::unwind
