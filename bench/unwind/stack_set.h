#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/image_map.h"
#include "unwind/trap_frame_layout.h"
#include "wire/capture.h"

namespace ringside::bench {

// The captured kernel stacks of a recording that ringside, with all its tables, walks to their end.
struct StackSet {
  std::unique_ptr<elf::ImageMap> images;
  std::vector<unwind::TrapFrameLayout> entries;
  std::vector<wire::Capture> captures;
  // The addresses of each capture's stack, leaf first, which every way must find.
  std::vector<std::vector<std::uint64_t>> expected;
  std::size_t incomplete = 0;  // captures that were left out
};

// The first `limit` of them. Errors: those of opening the recording and its images' files, and
// where there is no such stack.
[[nodiscard]] Result<StackSet> load_stacks(const std::string& path, std::size_t limit);

}  // namespace ringside::bench
