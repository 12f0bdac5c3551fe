#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/sample_visitor.h"

namespace ringside::cases {

// The captures of a recording, without their memory, and the stacks that were unwound from them.
class RecordedCaptures final : public recording::SampleVisitor {
 public:
  struct Entry {
    recording::SampleInfo info;
    recording::StackRef stack;
  };

  // Entry n is capture n of the recording, counted from 0.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<recording::ImageInfo>& images() const { return images_; }
  // The frames of an entry's stack, leaf first.
  [[nodiscard]] std::vector<recording::RecordedFrame> frames_of(const Entry& entry) const;
  // The ELF files of images that were made of guest memory, by the image's id.
  [[nodiscard]] const std::map<std::uint32_t, std::vector<std::byte>>& image_files() const {
    return image_files_;
  }
  // The adapter's layouts as text; empty where the recording has none.
  [[nodiscard]] const std::string& trap_frame_layouts() const { return trap_frame_layouts_; }
  // The guest has booted again: images and layouts are of several kernels at one place, perhaps.
  [[nodiscard]] bool has_several_epochs() const { return epochs_ > 1; }

 private:
  void image(const recording::ImageInfo& image) override { images_.push_back(image); }
  void frame(std::uint32_t, const recording::RecordedFrame& frame) override {
    frames_.push_back(frame);
  }
  void stack_node(std::uint32_t, const recording::StackNode& node) override {
    nodes_.push_back(node);
  }
  void sample(const recording::Sample& sample) override { sample_ = sample; }
  void capture(const wire::Capture& capture) override;
  void blob(const recording::Blob& blob) override;
  void epoch(const recording::GuestEpoch&) override { ++epochs_; }

  std::vector<Entry> entries_;
  std::vector<recording::ImageInfo> images_;
  std::vector<recording::RecordedFrame> frames_;  // frame id - 1
  std::vector<recording::StackNode> nodes_;       // node id - 1
  std::map<std::uint32_t, std::vector<std::byte>> image_files_;
  std::string trap_frame_layouts_;
  recording::Sample sample_;  // the last one
  std::size_t epochs_ = 1;
};

// The kind of the blob that holds trap-frame layouts, as entries_text() writes them.
inline constexpr const char* kTrapFrameLayoutsBlob = "entry-layouts";

// The captures with these numbers (ascending), as they were recorded.
[[nodiscard]] Result<std::vector<wire::Capture>> read_captures(
    recording::Reader& reader, const std::vector<std::size_t>& numbers);

}  // namespace ringside::cases
