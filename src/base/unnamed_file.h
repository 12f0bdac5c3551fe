#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

// Files that get their name when they are whole. One without a name is gone when nobody has it
// open, however this process ends.

// The beginning of a file's name for the moment in which it replaces another one.
inline constexpr const char* kTemporaryPrefix = ".ringside-";
// A template of such a name, for mkstemp() and mkdtemp().
[[nodiscard]] std::string temporary_name(const std::filesystem::path& folder);

// An empty file for reading and writing, of this user alone (mode 0600), in that folder. Where the
// file system makes none without a name, it has one for a moment. Not valid: errno is set.
[[nodiscard]] UniqueFd open_unnamed(const std::filesystem::path& folder);

// Copies `size` bytes at `offset` of one file to the place that another one is at. `what` names it
// in errors. Ends with kClosed where a signal waits (base/signals_held.h).
[[nodiscard]] Result<void> copy_bytes(int from, std::uint64_t offset, std::uint64_t size, int to,
                                      const std::string& what);

// Gives a file of open_unnamed() the name `path`, which is no symbolic link; it replaces a file of
// that name. A file that cannot get a name is copied. `what` names it in errors, after which
// nothing has changed.
[[nodiscard]] Result<void> give_name(const UniqueFd& file, const std::filesystem::path& path,
                                     const std::string& what);

}  // namespace ringside
