#pragma once

#include <map>
#include <string>
#include <vector>

#include "importers/firefox/profile.h"
#include "importers/parts/json_stacks.h"

namespace ringside::importers::firefox {

// Images of the libraries, and of other resources that code came from, as frames name them.
class Images {
 public:
  explicit Images(const Profile& profile)
      : profile_(profile), of_library_(profile.libraries.size()) {}

  [[nodiscard]] Result<std::uint32_t> of_library(std::uint32_t library, recording::Writer& writer);
  // By the name of a resource that is no library, such as a page.
  [[nodiscard]] Result<std::uint32_t> of_resource(std::string_view name, recording::Writer& writer);

 private:
  static constexpr std::size_t kMostResources = 4096;  // that have an image

  const Profile& profile_;
  std::vector<std::uint32_t> of_library_;  // ids; 0: not yet
  std::map<std::string, std::uint32_t, std::less<>> of_resource_;
};

// The kind of a category's frames, by its name.
[[nodiscard]] FrameKind kind_of_category(std::string_view name);

// The stacks and frames of some tables. A frame whose name is nothing but its address is recorded
// by that, so that a file of symbols can name it.
class TableStacks final : public StackTree {
 public:
  // All must outlive it.
  TableStacks(const Profile& profile, const Tables& tables, Images& images);

  [[nodiscard]] std::size_t node_count() const override { return tables_.stack_frames.size(); }
  [[nodiscard]] std::size_t frame_count() const override { return tables_.frame_functions.size(); }
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const override {
    return at_or(tables_.stack_parents, node, kBadIndex);
  }
  [[nodiscard]] std::uint32_t frame(std::uint32_t node) const override {
    return tables_.stack_frames[node];
  }
  [[nodiscard]] Result<recording::RecordedFrame> make_frame(std::uint32_t index,
                                                            recording::Writer& writer) override;

  // Whether ringside wrote it for an idle vCPU.
  [[nodiscard]] bool is_idle(std::uint32_t node) const;

 private:
  [[nodiscard]] std::string_view string_at(std::uint32_t index) const {
    return strings_[index];  // kNoIndex is none
  }
  [[nodiscard]] std::string_view category_of(std::uint32_t frame) const;
  [[nodiscard]] std::int64_t address_of(std::uint32_t frame) const;  // -1: none
  [[nodiscard]] bool is_inlined(std::uint32_t frame) const;
  [[nodiscard]] std::uint32_t line_of(std::uint32_t frame, std::uint32_t function) const;
  [[nodiscard]] std::uint32_t library_of(std::uint32_t frame, std::uint32_t resource) const;
  [[nodiscard]] std::string_view file_of(std::uint32_t function) const;
  [[nodiscard]] Result<std::uint32_t> image_of(std::uint32_t frame, std::uint32_t function,
                                               recording::Writer& writer);

  const Profile& profile_;
  const Tables& tables_;
  const TextColumn& strings_;
  Images& images_;
};

}  // namespace ringside::importers::firefox
