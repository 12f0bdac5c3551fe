#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recording/records.h"

namespace ringside::profile {

// A frame of a recording with what is known about the place it stands at.
struct FrameToName {
  const recording::RecordedFrame& frame;  // look up frame.lookup_address()
  const recording::ImageInfo* image;      // null: no image is mapped there
  const recording::Mapping* mapping;      // null: no image is mapped there
};

// A place in the source.
struct SourceLine {
  std::string file;        // a path; empty: unknown
  std::uint32_t line = 0;  // 0: unknown
};

// The names of a frame: the function that was compiled there, then the functions inlined into it,
// outermost first. Empty: unknown. Names are demangled; the builder makes them safe to print
// (sanitize.h).
struct NamedFrame {
  std::vector<std::string> functions;
  // Where each of them stands: at the call of the next, the last at the address. Empty, or one for
  // each function.
  std::vector<SourceLine> lines;
  // Where the symbol of the first one stands in the guest. `size` 0: not known.
  GuestVirt start;
  std::uint64_t size = 0;
  // The path of the file that has the names; empty: they are in the recording.
  std::string file = {};
};

// Finds names. The builder asks once for every distinct frame of a recording.
class FrameNamer {
 public:
  virtual ~FrameNamer() = default;
  // `out` is empty when called. Called for kernel, interrupt and firmware frames, and
  // for others that have an image.
  virtual void name(const FrameToName& what, NamedFrame& out) = 0;
  // How a name is shown that the recording has in place of an address. It may be mangled.
  [[nodiscard]] virtual std::string shown(const std::string& recorded) const { return recorded; }
  // An image of the recording; all come before frames are asked for.
  virtual void image(const recording::ImageInfo&) {}
  // The recording's data on an image; it comes before the frames in that image are asked for.
  virtual void blob(const recording::Blob&) {}
  // A function of an image; all come before frames are asked for.
  virtual void function(const recording::ImageFunction&) {}
};

// Knows no names: every frame is shown by its address.
class NoNames final : public FrameNamer {
 public:
  void name(const FrameToName&, NamedFrame&) override {}
};

}  // namespace ringside::profile
