#pragma once

#include <string>
#include <vector>

#include "base/byte_reader.h"

namespace ringside::importers::pprof {

struct Unzipped {
  std::vector<std::byte> bytes;
  std::string fault;  // why the rest is not there; empty: all is
};

// The content of all members of gzip data, at most `most` bytes of it. Damage and that limit end
// it, and the fault says where.
[[nodiscard]] Unzipped unzipped(Bytes bytes, std::size_t most);

}  // namespace ringside::importers::pprof
