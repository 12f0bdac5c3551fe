#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/kept_captures.h"
#include "unwind/entry_layout.h"

namespace ringside::bench {

// The captured kernel stacks of a recording that ringside, with all its tables, walks to their end.
struct StackSet {
  std::unique_ptr<cli::KeptCaptures> recording;
  std::vector<unwind::EntryLayout> entries;
  std::vector<wire::Capture> captures;
  // Of each capture's stack, leaf first: what every way must find.
  std::vector<std::vector<std::uint64_t>> expected;
  std::size_t incomplete = 0;  // captures that were left out

  [[nodiscard]] const elf::ImageMap& images() const { return recording->images; }
};

// The first `limit` of them. Errors: those of opening it, and where there is no such stack.
[[nodiscard]] Result<StackSet> load_stacks(const std::string& path, std::size_t limit);

}  // namespace ringside::bench
