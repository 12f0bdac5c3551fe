#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profile/frame_namer.h"
#include "recording/records.h"
#include "recording/samples.h"

namespace ringside::exporters {

// The frames of a recording and its stacks, as objects of JSON Lines.
class JsonFrames {
 public:
  // The next frame of the recording. `image` is its members for that, each with a comma behind it.
  void add(const recording::RecordedFrame& frame, std::string_view image,
           const profile::NamedFrame& named);
  // The next node of its stacks.
  void add(const recording::StackNode& node) { nodes_.push_back(node); }

  // By id; "null" for none.
  [[nodiscard]] std::string frame(std::size_t id) const;
  // Functions that an importer has recorded as frames of their own, inlined into the next one, are
  // of its object.
  [[nodiscard]] std::string stack(const recording::StackRef& ref);

 private:
  struct Frame {
    std::string text;  // the object: place, functions and, where there are such, lines
    std::size_t place_size = 0;
    std::size_t functions_size = 0;
    std::size_t lines_size = 0;
    bool inlined = false;  // all of its functions
    [[nodiscard]] std::string_view place() const {
      return std::string_view(text).substr(0, place_size);
    }
  };
  struct Parts {
    std::string_view place;  // the members in front of its functions
    std::string functions;   // with commas
    std::string lines;       // the same, one for each
    bool inlined = false;
  };
  [[nodiscard]] static Frame frame_of(const Parts& parts);
  // The object of frames at one place, of which each is inlined into the next one.
  static void append(const std::vector<const Frame*>& run, std::string& out);
  void append_stack(std::uint32_t node, std::string& out) const;

  std::vector<Frame> frames_{1};  // by id
  std::vector<recording::StackNode> nodes_{1};
  std::uint32_t last_node_ = 0;  // samples with one stack often stand one behind the other
  std::string last_frames_;      // its text
};

}  // namespace ringside::exporters
