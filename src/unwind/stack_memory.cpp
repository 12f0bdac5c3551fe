#include "unwind/stack_memory.h"

#include "arch/arch_info.h"
#include "base/little_endian.h"
#include "wire/recipe.h"

namespace ringside::unwind {
namespace {

// A stack pointer that was loaded from a slot less than this below it points up its own stack; one
// that leads farther, or down, leads to another stack.
constexpr std::uint64_t kSameStackBytes = 4096;

bool is_kernel_pointer(GuestVirt address, std::size_t pointer_size) {
  return address.value >> (8 * pointer_size - 1) != 0 && address.value % pointer_size == 0;
}

}  // namespace

std::optional<std::uint64_t> StackMemory::read_u64(GuestVirt address) const {
  if (const auto value = capture_.read<std::uint64_t>(address)) return value;
  return read(address, 8);
}

std::optional<std::uint64_t> StackMemory::read(GuestVirt address, std::size_t size) const {
  for (const wire::MemoryPiece& piece : capture_.pieces) {
    const std::uint64_t offset = address - piece.address;
    if (!piece.is_memory() || offset > piece.size || piece.size - offset < size) continue;
    return load_unsigned(capture_.bytes_of(piece), offset, size);
  }
  const elf::Image* image = images_.find(address);
  if (image == nullptr) return std::nullopt;
  const ImageAddr at = image->to_image(address);
  for (const elf::Segment& segment : image->file->segments())
    if (segment.contains(at) && segment.writable) return std::nullopt;
  const Bytes bytes = image->file->bytes_at(at, size);
  if (bytes.size() < size) return std::nullopt;
  return load_unsigned(bytes, 0, size);
}

const wire::MemoryPiece* StackMemory::piece_at(GuestVirt address) const {
  for (const wire::MemoryPiece& piece : capture_.pieces)
    if (piece.is_memory() && piece.why != wire::PieceKind::kSystem &&
        address - piece.address < piece.size)
      return &piece;
  return nullptr;
}

const wire::MemoryPiece* StackMemory::link_at(GuestVirt address) const {
  for (const wire::MemoryPiece& piece : capture_.pieces)
    if (piece.why == wire::PieceKind::kStackLink && piece.address == address &&
        piece.size >= pointer_size_)
      return &piece;
  return nullptr;
}

Miss StackMemory::explain(GuestVirt address, GuestVirt slot,
                          std::optional<GuestVirt> position) const {
  const bool leads_away = slot.value != 0 && address - slot >= kSameStackBytes;
  const wire::MemoryPiece* below = nullptr;  // the nearest piece of a stack below the address
  for (const wire::MemoryPiece& piece : capture_.pieces) {
    const std::uint64_t offset = address - piece.address;
    if (!piece.is_stack() || offset >= wire::kMaxStackBytes) continue;
    if (below == nullptr || offset < address - below->address) below = &piece;
  }
  if (leads_away && is_kernel_pointer(address, arch::roles_of(capture_.arch).pointer_size))
    return {StopReason::kNotCopied, address, StackLink{slot, address}};
  // A pointer that leads anywhere shows no stack.
  const bool is_own_stack = position && address - *position < wire::kMaxStackBytes;
  const bool is_copied_in_part =
      below != nullptr &&
      (!leads_away || (is_own_stack && *position - below->address <= below->size));
  if (is_copied_in_part) {
    // Fewer bytes than asked for: memory ended there.
    const bool asked = address - below->address + pointer_size_ <= below->requested;
    return {asked ? StopReason::kUnreadable : StopReason::kTruncated, address, std::nullopt};
  }
  return {is_own_stack ? StopReason::kNotCopied : StopReason::kUnreadable, address, std::nullopt};
}

}  // namespace ringside::unwind
