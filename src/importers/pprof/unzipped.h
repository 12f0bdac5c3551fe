#pragma once

#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace ringside::importers::pprof {

// Whether the bytes begin as gzip's do (RFC 1952).
[[nodiscard]] bool is_gzip(Bytes bytes);

struct Unzipped {
  std::vector<std::byte> bytes;
  std::string fault;  // why the rest is not there; empty: all is
};

// The content of all members of gzip data, at most `most` bytes of it. Damage and that limit end
// it, and the fault says where. Errors: kIo where zlib cannot start.
[[nodiscard]] Result<Unzipped> unzipped(Bytes bytes, std::size_t most);

}  // namespace ringside::importers::pprof
