#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside::launch {

// The word that makes ringside act as the shim: ringside --qemu-shim FOLDER PROGRAM [ARGUMENTS …].
inline constexpr const char* kShimOption = "--qemu-shim";

// Fills FOLDER/bin with a shim for every QEMU in PATH, each of which runs `self` as above.
[[nodiscard]] Result<void> write_shims(const std::filesystem::path& folder,
                                       const std::filesystem::path& self, const std::string& path);

// PATH with FOLDER/bin in front, or without it.
[[nodiscard]] std::string path_with_shims(const std::filesystem::path& folder,
                                          const std::string& path);
[[nodiscard]] std::string path_without_shims(const std::filesystem::path& folder,
                                             const std::string& path);

// The shim: adds to the command line what the LaunchRequest in `folder` asks for and the engine
// that it chooses needs, leaves a LaunchInfo there and becomes QEMU. The first QEMU that starts a
// guest is the one that is sampled; any other, and one that only prints its version, runs
// unchanged. Returns only if QEMU cannot be started.
[[nodiscard]] Result<void> run_qemu_shim(const std::filesystem::path& folder,
                                         const std::string& program,
                                         std::vector<std::string> arguments);

}  // namespace ringside::launch
