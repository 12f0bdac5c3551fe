#include "importers/pprof/unzipped.h"

#include <fmt/core.h>

#include <algorithm>

#include "importers/parts/gzip_reader.h"

namespace ringside::importers::pprof {

Unzipped unzipped(Bytes bytes, std::size_t most) {
  constexpr std::size_t kFirstRoom = 256 << 10;
  GzipReader reader(bytes);
  Unzipped out;
  std::size_t size = 0;
  while (true) {
    if (size == out.bytes.size())
      out.bytes.resize(std::clamp(2 * size, std::min(kFirstRoom, most), most));
    if (size == most) {
      out.fault = fmt::format("only the first {} MiB of what is compressed are read", most >> 20);
      break;
    }
    const std::size_t read = reader.read(std::span(out.bytes).subspan(size));
    size += read;
    if (read != 0) continue;
    out.fault = reader.fault();
    break;
  }
  out.bytes.resize(size);
  return out;
}

}  // namespace ringside::importers::pprof
