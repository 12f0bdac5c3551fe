#include "guestos/linux/modules/list_head.h"

#include "arch/arch_info.h"

namespace ringside::guestos {

Result<bool> ListHead::is_head(GuestVirt at, VirtualMemory& memory, const IsEntry& is_entry) const {
  const std::size_t word = arch::roles_of(arch_).pointer_size;
  RINGSIDE_ASSIGN(const auto first, memory.read_word(at, word));
  if (!first || *first == at.value) return false;
  RINGSIDE_ASSIGN(const auto back, memory.read_word(GuestVirt{*first} + word, word));
  return back == at.value ? is_entry(GuestVirt{*first}) : Result<bool>(false);
}

Result<std::optional<GuestVirt>> ListHead::find(VirtualMemory& memory, const IsEntry& is_entry) {
  for (std::size_t i = 0; places_.size() > 1 && i < places_.size(); ++i) {
    RINGSIDE_ASSIGN(const bool is_it, is_head(places_[i], memory, is_entry));
    if (is_it) places_ = {places_[i]};
  }
  return places_.size() == 1 ? std::optional(places_.front()) : std::nullopt;
}

}  // namespace ringside::guestos
