#include "elf/code_hash.h"

#include <xxhash.h>

#include <memory>

namespace ringside::elf {

std::uint64_t code_hash(const ElfFile& file) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  if (!state || XXH3_64bits_reset(state.get()) != XXH_OK) return 0;
  bool has_code = false;
  for (const Segment& segment : file.segments()) {
    if (!segment.executable) continue;
    const Bytes code = file.bytes_at(segment.address, segment.file_size);
    has_code |= !code.empty();
    XXH3_64bits_update(state.get(), &segment.address.value, sizeof segment.address.value);
    XXH3_64bits_update(state.get(), code.data(), code.size());
  }
  if (!has_code) return 0;
  const std::uint64_t hash = XXH3_64bits_digest(state.get());
  return hash == 0 ? 1 : hash;
}

}  // namespace ringside::elf
