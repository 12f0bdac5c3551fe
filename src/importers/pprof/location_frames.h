#pragma once

#include <span>
#include <vector>

#include "importers/pprof/images.h"

namespace ringside::importers::pprof {

// The frames of a profile's locations, as a recording has them. Each is made once.
class LocationFrames {
 public:
  LocationFrames(const Messages& messages, const Images& images, const ImportOptions& options,
                 recording::Writer& writer);

  struct Frames {
    // Innermost first. Their kind is for the caller to set. One without a name where the location
    // has no function; none where memory allows no more of them.
    std::span<const recording::RecordedFrame> frames;
    bool is_kernel = false;  // by its mapping, or by the address of the kernel that is given
  };
  // By Messages::location_number(). Errors: the writer's. Valid until the next call.
  [[nodiscard]] Result<Frames> of(std::size_t location);

 private:
  struct Known {
    std::uint32_t first = 0;  // in frames_
    std::uint32_t count = 0;
    bool is_made = false;
    bool is_kernel = false;
  };
  [[nodiscard]] Result<void> make(const LocationMessage& location, Known& known);
  [[nodiscard]] Result<std::uint32_t> name_of(const FunctionMessage& function);
  [[nodiscard]] Result<std::uint32_t> text_of(TextIndex index);

  const Messages& messages_;
  const Images& images_;
  const ImportOptions& options_;
  recording::Writer& writer_;
  std::vector<Known> known_;  // by location
  std::vector<recording::RecordedFrame> frames_;
  std::unordered_map<TextIndex, std::uint32_t> texts_;
  std::vector<LineMessage> lines_;  // reused
};

}  // namespace ringside::importers::pprof
