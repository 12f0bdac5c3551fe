#include "importers/gdb_stack.h"

#include <algorithm>

namespace ringside::importers {
namespace {

using recording::RecordedFrame;

constexpr std::size_t kMostKnown = 100'000;
constexpr std::size_t kMostKnownText = 4096;  // bytes of a line that is kept to be found again
constexpr std::size_t kMostImages = 1 << 16;
constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 63;

FrameKind kind_at(GuestVirt address) {
  return address.value >= kUpperHalf ? FrameKind::kKernel : FrameKind::kCode;
}

}  // namespace

Result<void> GdbStack::add(std::string_view text, const GdbFrame& frame) {
  text_ = text;
  if (const auto known = known_.find(text_); known != known_.end()) {
    frames_.push_back(known->second);
    return {};
  }
  RINGSIDE_ASSIGN(const Open made, make(frame));
  budget_.add_frame();
  frames_.push_back(made);
  if (text.size() > kMostKnownText) return {};
  if (known_.size() == kMostKnown) known_.clear();
  known_.emplace(text_, made);
  return {};
}

Result<GdbStack::Open> GdbStack::make(const GdbFrame& frame) {
  Open open;
  open.is_signal = frame.is_signal;
  open.has_address = frame.address.has_value();
  if (frame.address) open.frame.address = *frame.address;
  if (!frame.library.empty()) {
    RINGSIDE_ASSIGN(open.frame.image, image_of(frame.library));
  }
  if (frame.function.empty()) return open;
  RINGSIDE_ASSIGN(open.frame.function, text_of(frame.function));
  if (frame.file.empty()) return open;
  RINGSIDE_ASSIGN(open.frame.file, text_of(frame.file));
  open.frame.line = frame.line;
  return open;
}

Result<std::uint32_t> GdbStack::text_of(std::string_view text) {
  return writer_.add_text(budget_.bounded(text));
}

Result<std::uint32_t> GdbStack::image_of(std::string_view path) {
  const auto known = images_.find(std::string(path));
  if (known != images_.end()) return known->second;
  if (images_.size() == kMostImages) return 0;
  recording::ImageInfo image;
  image.path = budget_.bounded(path);
  image.name = image.path.substr(image.path.rfind('/') + 1);
  RINGSIDE_ASSIGN(const std::uint32_t id, writer_.add_image(image));
  images_.emplace(path, id);
  return id;
}

recording::StackRef GdbStack::finish() {
  join_inlined();
  find_kinds();
  finished_.clear();
  // The mark of a signal is no function.
  for (const Open& open : frames_)
    if (!open.is_signal) finished_.push_back(open.frame);
  if (finished_.empty() && !frames_.empty()) finished_.push_back(frames_.front().frame);
  is_kernel_ = !finished_.empty() && finished_.front().kind == FrameKind::kKernel;
  frames_.clear();
  const recording::StackRef stack = writer_.add_stack(finished_);
  budget_.add_stack(stack);
  return stack;
}

// gdb gives an address to the innermost of the functions that are inlined into each other, unless
// the pc is at the beginning of a line: then none of them has one. Where no frame of a stack has
// one, addresses are switched off, and nothing shows what is inlined.
void GdbStack::join_inlined() {
  const bool has_addresses = std::any_of(frames_.begin(), frames_.end(),
                                         [](const Open& open) { return open.has_address; });
  bool is_exact = true;
  GuestVirt address;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    Open& open = frames_[i];
    const bool begins = i == 0 || !frames_[i - 1].frame.inlined;
    if (begins) {
      is_exact = i == 0 || frames_[i - 1].is_signal;
      address = {};
    }
    if (open.has_address) address = open.frame.address;
    open.frame.address = address;
    open.frame.exact = is_exact;
    const bool has_caller = i + 1 < frames_.size() && !frames_[i + 1].has_address;
    open.frame.inlined =
        has_addresses && has_caller && !open.is_signal && !frames_[i + 1].is_signal;
  }
}

// A frame whose address is not known is of the kind of its caller.
void GdbStack::find_kinds() {
  FrameKind kind = FrameKind::kCode;
  for (auto open = frames_.rbegin(); open != frames_.rend(); ++open) {
    if (open->has_address || open->frame.address.value != 0) kind = kind_at(open->frame.address);
    open->frame.kind = kind;
  }
}

}  // namespace ringside::importers
