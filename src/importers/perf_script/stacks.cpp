#include "importers/perf_script/stacks.h"

#include <algorithm>

#include "base/split.h"
#include "elf/image_map.h"
#include "profile/sanitize.h"

namespace ringside::importers::perf_script {
namespace {

using recording::RecordedFrame;
using recording::StackRef;

constexpr std::size_t kMostImages = 1 << 16;
constexpr std::string_view kRedoxUnknown = "[kernel]";  // a frame without a name there
constexpr std::string_view kArrow = "->";
constexpr std::string_view kDeleted = " (deleted)";

std::string_view without_brackets(std::string_view file) {
  return file.size() > 2 && file.starts_with('[') && file.ends_with(']')
             ? file.substr(1, file.size() - 2)
             : file;
}

recording::ImageInfo image_info(std::string_view file, bool is_kernel) {
  recording::ImageInfo image;
  if (file.starts_with('/')) image.path = file;
  if (is_kernel && is_whole_kernel(file)) {
    image.name = elf::kKernelImage;
  } else if (is_kernel && !file.starts_with('/')) {
    image.name = without_brackets(file);
  } else {
    if (file.ends_with(kDeleted)) file.remove_suffix(kDeleted.size());
    image.name = file.substr(file.starts_with('/') ? file.rfind('/') + 1 : 0);
  }
  return image;
}

// Redox' text has "[name] (kernel)", and ringside's of before "[unknown] (name)". Real files stand
// there only in text of perf.
void take_name_of_redox(FrameLine& line) {
  if (line.file.starts_with('/') || line.file.empty()) return;
  const std::string_view name = without_brackets(line.symbol);
  if (line.symbol.empty() && line.file != kRedoxUnknown)
    line.symbol = line.file;
  else if (name.size() != line.symbol.size() && (line.file == "kernel" || line.file == "user"))
    line.symbol = name;
  else if (!line.symbol.empty())
    return;
  line.file = {};
}

}  // namespace

TextKey Stacks::key_of(std::string_view text, bool has_names) {
  TextKey key(text);
  key.low ^= std::uint64_t{has_names};
  return key;
}

Stacks::Stack Stacks::stack_of(const StackEntry& entry) {
  Stack stack;
  stack.level = entry.level;
  stack.is_idle = entry.is_idle;
  stack.left_out = entry.left_out;
  stack.part_count = entry.part_count;
  for (std::size_t i = 0; i < entry.part_count; ++i) stack.parts[i].node = entry.nodes[i];
  if (entry.is_cut) stack.parts[entry.part_count - 1].stop = StopReason::kTruncated;
  return stack;
}

Result<Stacks::Stack> Stacks::find(std::string_view text, bool has_names) {
  const TextKey key = key_of(text, has_names);
  if (const StackEntry* const known = stacks_.find(key)) return stack_of(*known);
  Stack lost;
  lost.is_lost = true;
  if (!budget_.has_room()) return lost;
  RINGSIDE_ASSIGN(const StackEntry made, read(text, has_names));
  return stack_of(stacks_.add(key) = made);
}

bool Stacks::take_lines(std::string_view text, bool has_names) {
  constexpr std::size_t kMostLines = 2 * kMostStackFrames;  // each frame may have one of its place
  lines_.clear();
  while (!text.empty() && lines_.size() < kMostLines) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    lines_.push_back({line, key_of(line, has_names)});
    frames_.prefetch(lines_.back().key);
  }
  return !text.empty();
}

Result<Stacks::StackEntry> Stacks::read(std::string_view text, bool has_names) {
  StackEntry entry;
  chain_.clear();
  inlined_ = 0;
  is_leaf_ = true;
  left_out_ = 0;
  is_idle_ = false;
  entry.is_cut = take_lines(text, has_names);
  for (const Line& line : lines_) RINGSIDE_TRY(add_line(line, has_names));
  if (chain_.size() > kMostStackFrames) {
    chain_.resize(kMostStackFrames);
    entry.is_cut = true;
  }
  entry.left_out = left_out_;
  entry.is_idle = is_idle_ && chain_.size() == 1;
  finish(entry);
  return entry;
}

Result<void> Stacks::add_line(const Line& line, bool has_names) {
  if (const FrameEntry* const known = frames_.find(line.key)) {
    add_frame(*known);
    return {};
  }
  if (const auto frame = parse_frame_line(line.text)) {
    const bool is_inlining =
        frame->symbol.find(kArrow) != std::string_view::npos && is_jit_map(frame->file);
    return is_inlining ? add_compiled(line, *frame) : add_found(line.key, *frame, has_names);
  }
  const auto source = parse_source_line(line.text);
  if (source && !chain_.empty()) return add_source_line(*source);
  ++left_out_;
  return {};
}

Result<void> Stacks::add_found(const TextKey& key, const FrameLine& frame, bool has_names) {
  if (const FrameEntry* const known = frames_.find(key)) {
    add_frame(*known);
    return {};
  }
  RINGSIDE_ASSIGN(const FrameEntry made, frame_of(frame, has_names));
  budget_.add_frame();
  add_frame(frames_.add(key) = made);
  return {};
}

Result<void> Stacks::add_compiled(const Line& line, const FrameLine& frame) {
  constexpr std::uint64_t kMostInlined = 64;  // the others stay with the outermost
  std::string_view rest = frame.symbol;
  TextKey key = line.key;
  for (std::uint64_t i = 0; !rest.empty(); ++i) {
    const std::size_t arrow = i == kMostInlined ? std::string_view::npos : rest.rfind(kArrow);
    const bool is_inlined = arrow != std::string_view::npos && arrow != 0;
    FrameLine part = frame;
    part.symbol = is_inlined ? rest.substr(arrow + kArrow.size()) : rest;
    part.inlined = is_inlined;
    rest = is_inlined ? rest.substr(0, arrow) : std::string_view();
    ++key.low;
    if (!part.symbol.empty()) RINGSIDE_TRY(add_found(key, part, false));
  }
  return {};
}

// Inlined frames stand before the function that was compiled there, and are of its kind.
void Stacks::add_frame(const FrameEntry& entry) {
  chain_.push_back(entry.frame);
  chain_.back().exact = is_leaf_;
  is_idle_ = entry.is_idle;
  if (entry.frame.inlined) {
    ++inlined_;
    return;
  }
  is_leaf_ = false;
  for (; inlined_ > 0; --inlined_) chain_[chain_.size() - 1 - inlined_].kind = entry.frame.kind;
}

Result<void> Stacks::add_source_line(const SourceLine& line) {
  RecordedFrame& frame = chain_.back();
  if (!line.file.empty() && frame.function != 0) {
    RINGSIDE_ASSIGN(frame.file, text_of(line.file));
    frame.line = line.line;
  }
  if (line.inlined && !frame.inlined) {
    frame.inlined = true;
    ++inlined_;
    is_leaf_ = frame.exact;
  }
  return {};
}

Result<Stacks::FrameEntry> Stacks::frame_of(FrameLine line, bool has_names) {
  if (has_names) take_name_of_redox(line);
  const bool is_kernel = perf_script::is_kernel(line);
  FrameEntry entry;
  RecordedFrame& frame = entry.frame;
  frame.address = line.address;
  frame.inlined = line.inlined;
  frame.kind = is_kernel ? FrameKind::kKernel : FrameKind::kUser;
  entry.is_idle =
      line.symbol == profile::kIdleName && line.file.empty() && line.address == GuestVirt{};
  if (!line.symbol.empty()) {
    RINGSIDE_ASSIGN(frame.function, text_of(line.symbol));
  }
  // Code that --kernel has is in the image that it is recorded with. Other code without a name is
  // in no file that can be opened: its address is where it ran, and the text does not say where the
  // file was mapped.
  const bool is_given = is_kernel && options_.is_kernel_code(line.address);
  const bool has_image = frame.function != 0 || !(is_given || line.file.starts_with('/'));
  if (has_image && !line.file.empty()) {
    RINGSIDE_ASSIGN(frame.image, image_of(line.file, is_kernel));
  }
  if (!is_kernel && frame.function == 0 && frame.image == 0) frame.kind = FrameKind::kCode;
  return entry;
}

Result<std::uint32_t> Stacks::text_of(std::string_view text) {
  return writer_.add_text(budget_.bounded(text));
}

Result<std::uint32_t> Stacks::image_of(std::string_view file, bool is_kernel) {
  std::string key(file);
  key += is_kernel ? 'k' : 'u';
  if (const auto known = images_.find(key); known != images_.end()) return known->second;
  if (images_.size() == kMostImages) return 0;
  RINGSIDE_ASSIGN(const std::uint32_t id,
                  writer_.add_image(image_info(budget_.bounded(file), is_kernel)));
  images_.emplace(std::move(key), id);
  return id;
}

void Stacks::finish(StackEntry& entry) {
  if (chain_.empty()) return;
  const auto user = std::find_if(chain_.begin(), chain_.end(), [](const RecordedFrame& frame) {
    return frame.kind != FrameKind::kKernel;
  });
  // Addresses that a walk of user code makes up may look like the kernel's.
  for (auto frame = user; frame != chain_.end(); ++frame)
    if (frame->kind == FrameKind::kKernel && frame->image == 0) frame->kind = FrameKind::kCode;
  const auto kernel = static_cast<std::size_t>(user - chain_.begin());
  entry.level = kernel == 0 ? PrivilegeLevel::kUser : PrivilegeLevel::kKernel;
  const std::span<const RecordedFrame> all(chain_);
  for (const auto part : {all.first(kernel), all.subspan(kernel)})
    if (!part.empty()) entry.nodes[entry.part_count++] = add_part(part).node;
}

// Addresses alone are looked up in what is mapped there.
StackRef Stacks::add_part(std::span<const RecordedFrame> frames) {
  const bool are_given =
      !options_.kernel_code.empty() &&
      std::all_of(frames.begin(), frames.end(), [](const RecordedFrame& frame) {
        return frame.function == 0 && frame.image == 0 && frame.kind == FrameKind::kKernel;
      });
  StackRef ref;
  if (are_given) {
    ringside::Stack stack;
    stack.stop = StopReason::kEndOfStack;
    for (const RecordedFrame& frame : frames)
      stack.frames.push_back({frame.address, frame.exact, frame.source, frame.kind});
    ref = writer_.add_stack(stack, 0);
  } else {
    ref = writer_.add_stack(frames);
  }
  budget_.add_stack(ref);
  return ref;
}

}  // namespace ringside::importers::perf_script
