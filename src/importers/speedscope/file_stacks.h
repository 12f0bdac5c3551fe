#pragma once

#include <map>
#include <string>

#include "importers/parts/json_stacks.h"
#include "importers/speedscope/speedscope_file.h"

namespace ringside::importers::speedscope {

// A file's stacks and frames, for the recording. A frame's file is an image where it has no line
// and is called like a program or library, as perf's are. perf calls it "inlined" for inlined
// functions.
class FileStacks final : public StackTree {
 public:
  // `file` must outlive it.
  explicit FileStacks(const File& file) : file_(file) {}

  [[nodiscard]] std::size_t node_count() const override { return file_.stacks.size(); }
  [[nodiscard]] std::size_t frame_count() const override { return file_.frame_names.size(); }
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const override {
    return file_.stacks.first(node) - 1;
  }
  [[nodiscard]] std::uint32_t frame(std::uint32_t node) const override {
    return file_.stacks.second(node);
  }
  [[nodiscard]] Result<recording::RecordedFrame> make_frame(std::uint32_t index,
                                                            recording::Writer& writer) override;

 private:
  [[nodiscard]] Result<std::uint32_t> image_of(const std::string& path, recording::Writer& writer);

  const File& file_;
  std::map<std::string, std::uint32_t> images_;  // ids by path
};

}  // namespace ringside::importers::speedscope
