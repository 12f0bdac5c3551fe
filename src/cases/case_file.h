#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cases/expected.h"
#include "cases/rules.h"
#include "elf/image_map.h"
#include "unwind/trap_frame_layout.h"
#include "unwind/unwinder.h"
#include "wire/capture.h"

// A test case of the unwinder as a file NAME.case, with the files that it shares with the cases
// beside it: tests/unwind-cases/README.md shows them.
namespace ringside::cases {

inline constexpr const char* kCaseSuffix = ".case";

struct Case {
  wire::Capture capture;
  elf::ImageMap images;
  std::vector<unwind::TrapFrameLayout> entries;
  ExpectedStack expected;
};

// Keeps the images that several cases share.
class ImageCache {
 public:
  [[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open(const std::filesystem::path& path);

 private:
  std::map<std::filesystem::path, std::shared_ptr<const elf::ElfFile>> files_;
};

// Errors name the file: those of parse_case(), and of the files that the case names.
[[nodiscard]] Result<std::unique_ptr<Case>> load_case(const std::filesystem::path& path,
                                                      ImageCache& cache);
// The sources of rules that a case's images have, all together.
[[nodiscard]] std::vector<Rules> rules_of(const Case& loaded);

// The stack that ringside gives for a case now when it takes its rules from there, with the names
// of the case's own images.
struct Replay {
  ExpectedStack stack;
  unwind::Statistics statistics;
};
[[nodiscard]] Replay replay(const Case& loaded, Rules rules);

}  // namespace ringside::cases
