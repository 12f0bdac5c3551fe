#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/image_map.h"
#include "unwind/trap_frame_layout.h"
#include "wire/capture.h"

namespace ringside::cases {

// The sources of the cases to be made, and their folder.
struct ExtractRequest {
  const elf::ImageMap& images;     // whole
  std::string trap_frame_layouts;  // as entries_text() writes them
  std::string origin;              // of all: guest, kernel; becomes the file "origin"
  std::vector<std::size_t> numbers;
  std::vector<wire::Capture> captures;  // one for each number
  std::filesystem::path folder;         // is made
};

struct ExtractResult {
  std::vector<std::filesystem::path> cases;  // the files
  // Cases whose stack is another one with the minimized images than with the whole ones: these have
  // lost something.
  std::vector<std::filesystem::path> differing;
};

// Writes each case into `folder` as NUMBER.case, beside the files that they share: minimized
// images, "entries" and "origin". The expected stack becomes what ringside finds now, not confirmed
// by anything. Errors: those of the file system.
[[nodiscard]] Result<ExtractResult> extract(const ExtractRequest& request);

}  // namespace ringside::cases
