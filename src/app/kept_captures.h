#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cases/recorded_captures.h"
#include "cases/replayer.h"
#include "cases/selection.h"
#include "elf/image_map.h"
#include "recording/reader.h"

namespace ringside::app {

// A recording that was made with --keep-captures, and the files of its images.
struct KeptCaptures {
  recording::Reader reader;
  cases::RecordedCaptures captures;
  elf::ImageMap images;
  std::string trap_frame_layouts;
};

// `kernel` stands for the file of the image named "kernel"; empty: as recorded. Errors: no captures
// were kept, a file is gone or another one now.
[[nodiscard]] Result<std::unique_ptr<KeptCaptures>> open_kept(const std::string& recording,
                                                              const std::string& kernel);

// The recorded stack of each capture: its functions, and why it ended.
[[nodiscard]] std::vector<cases::Candidate> candidates_of(const KeptCaptures& kept);

}  // namespace ringside::app
