#pragma once

#include "arch/arch_info.h"
#include "unwind/compact_rule.h"
#include "unwind/x86/path_search.h"

namespace ringside::unwind::x86 {

// Finds for all stacks what return_path.h finds for one: the exit paths of code are followed with
// no memory at all, each register and each word being a value of its own. Where all of them leave
// through the same place, found from the stack pointer (or from the stack pointer that lies on top
// of the stack, as where an entry stub is about to do `pop %rsp`), the rule depends on the pc alone
// and can be cached.
class ExitRuleFinder {
 public:
  ExitRuleFinder(const arch::ArchInfo& platform, CodeReader& code)
      : platform_(platform), code_(code) {}

  // kCall to where a `ret` goes, kFrame for what an `iret` pops, kUser for a `sysret`; kSlow where
  // it takes a stack to decide. `image` holds the pc.
  [[nodiscard]] CompactRule find(const elf::Image& image, GuestVirt pc);

 private:
  const arch::ArchInfo& platform_;
  CodeReader& code_;
};

}  // namespace ringside::unwind::x86
