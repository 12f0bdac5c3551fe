#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"
#include "engines/gdb/protocol/stub.h"

namespace ringside::engines::gdb {

// How memory is asked for: the request's letter, and the most bytes that fit into one answer.
struct MemoryReads {
  bool binary = false;  // `x` instead of `m`
  std::size_t chunk = 2048;
};
[[nodiscard]] MemoryReads memory_reads_of(const StubTraits& traits, bool has_x);
[[nodiscard]] std::string memory_request(const MemoryReads& reads, GuestVirt address,
                                         std::size_t size);
// Decodes an answer into `destination`; the number of bytes that came, 0 for an error.
[[nodiscard]] std::size_t decode_memory(const MemoryReads& reads, std::string_view reply,
                                        std::span<std::byte> destination);

// Calls `visit(address, size)` for pieces of at most `chunk` bytes that cross no 4 KiB boundary, so
// that a page that is not mapped costs only its own bytes.
template <class Visit>
void for_each_chunk(GuestVirt address, std::size_t size, std::size_t chunk, Visit visit) {
  constexpr std::uint64_t kPage = 4096;
  while (size > 0) {
    const std::size_t step =
        std::min({size, chunk, static_cast<std::size_t>(kPage - address.value % kPage)});
    visit(address, step);
    address = address + step;
    size -= step;
  }
}

}  // namespace ringside::engines::gdb
