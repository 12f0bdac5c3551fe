#pragma once

#include <functional>
#include <vector>

#include "base/stack.h"
#include "elf/image_map.h"
#include "guestos/user_interrupts/code_of_entries.h"
#include "guestos/user_interrupts/kernel_entry.h"
#include "unwind/user/user_entry.h"
#include "wire/capture.h"

namespace ringside::guestos {

// Which kernel stacks on user code are an interrupt's, by the kernel's entries alone: the code that
// the stack begins in belongs to interrupts' entries only, or the words that this code has pushed
// are those of such entries only.
class UserInterrupts {
 public:
  UserInterrupts(elf::Image kernel, std::vector<KernelEntry> entries);

  // Gives the kernel's frames the kind kInterrupt where an interrupt is proved. `user_entry` is
  // asked for where code alone does not decide.
  void mark(const wire::Capture& capture, Stack& stack,
            const std::function<unwind::UserEntry()>& user_entry) const;

 private:
  // Those of the entries whose words may be on the stack: none of them was read as another one.
  [[nodiscard]] EntrySet with_pushed_words(EntrySet entries, const Frame& outermost,
                                           const unwind::UserEntry& user,
                                           const wire::Capture& capture) const;
  [[nodiscard]] bool is_interrupts(const EntrySet& entries) const {
    return entries.any() && (entries & ~interrupts_).none();
  }

  elf::Image kernel_;
  std::vector<KernelEntry> entries_;
  EntrySet interrupts_;
  CodeOfEntries code_;
};

}  // namespace ringside::guestos
