#pragma once

#include <map>
#include <vector>

#include "cases/expected.h"
#include "elf/image_map.h"
#include "symbols/symbol_table.h"
#include "unwind/unwinder.h"

namespace ringside::cases {

// Unwinds captures and names their functions, all over the same images.
class Replayer {
 public:
  // `images` must outlive the replayer. Only the unwind tables that `tables` chooses are used.
  Replayer(const elf::ImageMap& images, std::vector<unwind::TrapFrameLayout> entries,
           unwind::TableUse tables = {});

  [[nodiscard]] ExpectedStack replay(const wire::Capture& capture);
  // Sums over all replays.
  [[nodiscard]] const unwind::Statistics& statistics() const { return unwinder_.statistics(); }
  // The function at an address, without demangling; "?" if none is known.
  [[nodiscard]] std::string name_of(GuestVirt at);

 private:
  const elf::ImageMap& images_;
  unwind::Unwinder unwinder_;
  std::map<const elf::Image*, symbols::SymbolTable> tables_;
};

}  // namespace ringside::cases
