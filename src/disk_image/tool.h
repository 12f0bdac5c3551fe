#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside::disk_image {

// A program of QEMU's, e2fsprogs' or mtools' that reads images.
struct Tool {
  const char* program;  // looked up in PATH, and in the folders of the administrator's programs
  const char* package;  // Debian's, which has it
};

inline constexpr Tool kQemuImg{"qemu-img", "qemu-utils"};
inline constexpr Tool kDebugfs{"debugfs", "e2fsprogs"};
inline constexpr Tool kMcopy{"mcopy", "mtools"};
inline constexpr Tool kMattrib{"mattrib", "mtools"};
inline constexpr Tool kMdir{"mdir", "mtools"};

// How long a tool may take for what does not depend on the size of an image.
inline constexpr std::chrono::seconds kShortLimit{60};
// How long it may take to copy that many bytes, on a slow disk.
[[nodiscard]] constexpr std::chrono::seconds copy_limit(std::uint64_t bytes) {
  return kShortLimit + std::chrono::seconds(bytes >> 20);
}

struct ToolRun {
  std::vector<std::string> arguments;
  std::vector<int> files = {};  // descriptors that the tool gets, under their numbers
  std::chrono::seconds limit = kShortLimit;
  // Gets each piece of standard output; may be empty.
  std::function<void(const std::string& piece)> on_output = {};
};

struct ToolOutput {
  bool succeeded = false;  // exit status 0
  std::string out;         // the first 64 KiB of each stream
  std::string err;
};

// Whether a tool has found no room for what it writes.
[[nodiscard]] inline bool has_no_room(const ToolOutput& output) {
  return output.err.find("No space left") != std::string::npos;
}

// Runs a tool to its end, without a shell, its standard input empty. It dies with ringside. Errors:
// kNotFound where there is no such program, with its package; kTimeout, it is then killed.
[[nodiscard]] Result<ToolOutput> run_tool(const Tool& tool, const ToolRun& run);

// The name of a descriptor of ToolRun::files for the tool.
[[nodiscard]] std::string name_of_descriptor(int fd);

}  // namespace ringside::disk_image
