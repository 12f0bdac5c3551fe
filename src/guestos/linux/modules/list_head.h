#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/memory_reader.h"
#include "base/result.h"

namespace ringside::guestos {

// The head of a list of the kernel's (struct list_head), which may be at one of several places.
class ListHead {
 public:
  // Whether a structure of the list has its struct list_head there. Errors: those of the memory.
  using IsEntry = std::function<Result<bool>(GuestVirt)>;

  ListHead(std::vector<GuestVirt> places, Arch arch) : places_(std::move(places)), arch_(arch) {}

  // The first place that leads to an entry and back; one that is the only one is not checked.
  // Nothing as long as none does: the list may be empty. Errors: those of `memory`.
  [[nodiscard]] Result<std::optional<GuestVirt>> find(VirtualMemory& memory,
                                                      const IsEntry& is_entry);

 private:
  [[nodiscard]] Result<bool> is_head(GuestVirt at, VirtualMemory& memory,
                                     const IsEntry& is_entry) const;

  std::vector<GuestVirt> places_;  // one, once it is determined which
  Arch arch_;
};

}  // namespace ringside::guestos
