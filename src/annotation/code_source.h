#pragma once

#include <cstddef>
#include <string>

#include "base/byte_reader.h"
#include "base/types.h"
#include "profile/frame_namer.h"

namespace ringside::annotation {

// The machine code at an address.
struct Code {
  Arch arch = Arch::kUnknown;
  // Fewer than were asked for where the file has no more; none where there is no file. Valid as
  // long as the CodeSource.
  Bytes bytes;
};

// Where the code of a recording's images is read, and what the names of any of its addresses are.
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  // Up to `size` bytes from `what.frame.address` on.
  [[nodiscard]] virtual Code code_at(const profile::FrameToName& what, std::size_t size) = 0;
  // As FrameNamer::name().
  virtual void name(const profile::FrameToName& what, profile::NamedFrame& out) = 0;
};

}  // namespace ringside::annotation
