#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/format.h"
#include "importers/parts/stack_budget.h"
#include "importers/perf_script/frame_line.h"
#include "importers/perf_script/text_cache.h"
#include "recording/writer.h"

namespace ringside::importers::perf_script {

// The stacks of samples: the text of a whole call chain is looked up by its hash, so that one that
// was seen before costs no more than reading its bytes; of the others each line is looked up.
// Hashes have 128 bits, and nothing but a name depends on them.
class Stacks {
 public:
  // Both must outlive it.
  Stacks(recording::Writer& writer, const ImportOptions& options)
      : writer_(writer), options_(options) {}

  struct Stack {
    // The kernel's part, then that of user code: those that are there.
    std::array<recording::StackRef, 2> parts;
    std::size_t part_count = 0;
    PrivilegeLevel level = PrivilegeLevel::kUnknown;
    bool is_idle = false;        // ringside's frame "[idle]": nothing ran
    std::uint32_t left_out = 0;  // lines that are neither frames nor places in the source
    bool is_lost = false;        // there is no room for it: see StackBudget

    [[nodiscard]] std::span<const recording::StackRef> refs() const {
      return std::span(parts).first(part_count);
    }
  };
  // `text`: the lines of a call chain, leaf first. With `has_names`, names stand where Redox'
  // profiling tool has them, and nothing is a file. Errors: the writer's.
  [[nodiscard]] Result<Stack> find(std::string_view text, bool has_names);

 private:
  struct StackEntry {
    std::uint32_t nodes[2] = {};
    std::uint32_t left_out = 0;
    PrivilegeLevel level = PrivilegeLevel::kUnknown;
    std::uint8_t part_count = 0;  // 0: it is new, or it has no frame
    bool is_idle = false;
    bool is_cut = false;
  };
  struct FrameEntry {
    recording::RecordedFrame frame;
    bool is_idle = false;
  };

  struct Line {
    std::string_view text;
    TextKey key;
  };
  static TextKey key_of(std::string_view text, bool has_names);
  static Stack stack_of(const StackEntry& entry);
  // Splits it, and looks ahead for its lines. True where there are more than a stack may have.
  bool take_lines(std::string_view text, bool has_names);
  [[nodiscard]] Result<StackEntry> read(std::string_view text, bool has_names);
  [[nodiscard]] Result<void> add_line(const Line& line, bool has_names);
  // A frame of code that was compiled while the program ran: perf-map-agent names functions that
  // were inlined there behind the one that was compiled, "outer->inlined->innermost".
  [[nodiscard]] Result<void> add_compiled(const Line& line, const FrameLine& frame);
  [[nodiscard]] Result<void> add_found(const TextKey& key, const FrameLine& frame, bool has_names);
  void add_frame(const FrameEntry& entry);
  [[nodiscard]] Result<FrameEntry> frame_of(FrameLine line, bool has_names);
  [[nodiscard]] Result<void> add_source_line(const SourceLine& line);
  [[nodiscard]] Result<std::uint32_t> image_of(std::string_view file, bool is_kernel);
  [[nodiscard]] Result<std::uint32_t> text_of(std::string_view text);
  void finish(StackEntry& entry);
  [[nodiscard]] recording::StackRef add_part(std::span<const recording::RecordedFrame> frames);

  recording::Writer& writer_;
  const ImportOptions& options_;
  StackBudget budget_;
  TextCache<StackEntry, 1 << 19> stacks_;
  TextCache<FrameEntry, 1 << 18> frames_;
  std::unordered_map<std::string, std::uint32_t> images_;
  std::vector<Line> lines_;                      // of the stack at hand
  std::vector<recording::RecordedFrame> chain_;  // of the stack at hand
  std::size_t inlined_ = 0;  // frames at its end whose function is still to come
  bool is_leaf_ = true;      // no function was compiled at an address so far
  std::uint32_t left_out_ = 0;
  bool is_idle_ = false;
};

}  // namespace ringside::importers::perf_script
