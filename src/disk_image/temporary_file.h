#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace ringside::disk_image {

// An empty file without a name in the folder for temporary files ($TMPDIR, else /tmp): it is gone
// when nobody has it open, however ringside ends. `size`: of holes, in bytes.
[[nodiscard]] Result<UniqueFd> make_temporary_file(std::uint64_t size = 0);

// Error kIo where the folder of `file` has no room for `bytes` more, with what to do. `what` is to
// be copied there.
[[nodiscard]] Result<void> check_room(int file, std::uint64_t bytes, const std::string& what);

// The error where a copy of `what` finds no room, with what to do.
[[nodiscard]] tl::unexpected<Error> no_room(const std::string& what);

}  // namespace ringside::disk_image
