#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>

#include "base/byte_reader.h"

namespace ringside {

// ringside's folder for what can be made again: $XDG_CACHE_HOME/ringside, or in ~/.cache; empty
// where neither is set.
[[nodiscard]] std::filesystem::path user_cache_folder();

// The checksum of an entry's bytes, in pieces: each entry has it, and one that has another is
// damaged. It is 64 bits of XXH3: against mishaps, not against who writes the folder.
[[nodiscard]] std::uint64_t cache_checksum(std::initializer_list<Bytes> pieces);

}  // namespace ringside
