#include "importers/json_lines/stacks.h"

#include <algorithm>

#include "base/whole_number.h"
#include "formats/json_lines.h"

namespace ringside::importers::json_lines {
namespace {

constexpr std::size_t kMostKnownBytes = 64 << 20;

template <class Enum>
std::optional<Enum> by_name(std::size_t count, std::string_view word) {
  return enumerator_up_to(static_cast<Enum>(count - 1), word);
}

}  // namespace

Result<const std::vector<recording::StackRef>*> Stacks::of(std::string_view text) {
  if (known_bytes_ > kMostKnownBytes) forget();
  const auto [known, added] = known_.try_emplace(std::string(text));
  if (!added) return &known->second;
  known_bytes_ += text.size() + 64;
  const auto filled = fill(text, known->second);
  if (filled) return &known->second;
  known_.erase(known);
  return tl::unexpected<Error>(filled.error());
}

Result<void> Stacks::fill(std::string_view text, std::vector<recording::StackRef>& refs) {
  RINGSIDE_ASSIGN(const Item line, parse_line(fmt::format("{{\"stacks\":{}}}", text)));
  const Item* const stacks = line.find("stacks");
  if (stacks == nullptr || line.items.size() != 1)
    return fail(ErrorCode::kFormat, "its stacks are no array");
  return fill(*stacks, refs);
}

Result<const std::vector<recording::StackRef>*> Stacks::of(const Item& stacks) {
  refs_.clear();
  RINGSIDE_TRY(fill(stacks, refs_));
  return &refs_;
}

Result<void> Stacks::fill(const Item& stacks, std::vector<recording::StackRef>& refs) {
  if (stacks.type != JsonValue::Type::kContainer)
    return fail(ErrorCode::kFormat, "its stacks are no array");
  for (const Item& stack : stacks.items) {
    RINGSIDE_ASSIGN(const recording::StackRef ref, make(stack));
    if (refs.size() < recording::kMostStacks) refs.push_back(ref);
  }
  return {};
}

void Stacks::forget() {
  known_.clear();
  known_bytes_ = 0;
}

Result<recording::StackRef> Stacks::make(const Item& stack) {
  const std::string_view stop = stack.text_of("stop");
  const Item* const frames = stack.find("frames");
  const auto reason = by_name<StopReason>(kStopReasonCount, stop);
  if (frames == nullptr || (!reason && stop != formats::json_lines::kLost))
    return fail(ErrorCode::kFormat, "a stack has frames, and a reason why it ends");
  if (!budget_.has_room()) return fail(ErrorCode::kFormat, "{}", StackBudget::kReason);
  frames_.clear();
  for (const Item& frame : frames->items) RINGSIDE_TRY(add_frame(frame));
  const bool is_cut = frames_.size() > kMostStackFrames;
  if (is_cut) frames_.resize(kMostStackFrames);
  recording::StackRef ref = writer_.add_stack(frames_);
  budget_.add_stack(ref);
  ref.stop = is_cut ? StopReason::kTooDeep : reason.value_or(StopReason::kEndOfStack);
  ref.stopped_at = {stack.address("stopped_at").value_or(0)};
  if (!reason) ref.node = recording::kLostStack;
  if (const Item* const role = stack.find("role"))
    ref.role = enumerator_up_to(recording::kLastStackRole, role->text)
                   .value_or(recording::StackRole::kOwn);
  if (is_cut) ++cut_stacks_;
  return ref;
}

// A frame's function, and those inlined into it.
Result<void> Stacks::add_frame(const Item& item) {
  recording::RecordedFrame frame;
  const auto kind = enumerator<FrameKind>(formats::json_lines::kFrameKinds, item.text_of("kind"));
  const auto address = item.address("address");
  const Item* const exact = item.find("exact");
  const Item* const functions = item.find("functions");
  if (!kind || !address || exact == nullptr || functions == nullptr)
    return fail(ErrorCode::kFormat, "a frame has an address, a kind and functions");
  frame.address = {*address};
  frame.exact = exact->bits != 0;
  frame.kind = *kind;
  frame.source = by_name<FrameSource>(kFrameSourceCount, item.text_of("rule"))
                     .value_or(FrameSource::kRegisters);
  RINGSIDE_ASSIGN(const Images::Known* const known, images_.find(item));
  if (known != nullptr && (known->has_names || !functions->items.empty())) frame.image = known->id;
  budget_.add_frame();
  if (functions->items.empty()) {
    frames_.push_back(frame);
    return {};
  }
  const Item* const lines = item.find("lines");
  const Item* const is_inlined = item.find("inlined");
  frame.inlined = is_inlined != nullptr && is_inlined->bits != 0;
  const std::size_t outermost = frames_.size();
  for (std::size_t i = 0; i < functions->items.size(); ++i) {
    RINGSIDE_ASSIGN(frame.function, text(functions->items[i].text));
    const std::string_view place =
        lines != nullptr && i < lines->items.size() ? lines->items[i].text : std::string_view();
    const std::size_t colon = place.rfind(':');
    const auto number = colon == std::string_view::npos
                            ? std::nullopt
                            : whole_number<std::uint32_t>(place.substr(colon + 1));
    frame.file = 0;
    frame.line = number.value_or(0);
    if (number) {
      RINGSIDE_ASSIGN(frame.file, text(place.substr(0, colon)));
    }
    frames_.push_back(frame);
    frame.inlined = true;
    budget_.add_frame();
  }
  std::reverse(frames_.begin() + static_cast<std::ptrdiff_t>(outermost), frames_.end());
  return {};
}

Result<std::uint32_t> Stacks::text(std::string_view name) {
  return writer_.add_text(budget_.bounded(name));
}

Result<std::uint32_t> Stacks::symbol(const Item& frame) {
  if (frame.type == JsonValue::Type::kNull) return 0;
  if (!budget_.has_room()) return fail(ErrorCode::kFormat, "{}", StackBudget::kReason);
  frames_.clear();
  RINGSIDE_TRY(add_frame(frame));
  const std::span<const recording::RecordedFrame> outermost = std::span(frames_).last(1);
  budget_.add_stack(writer_.add_stack(outermost));  // counts the frame
  return writer_.add_frame(outermost.front());
}

}  // namespace ringside::importers::json_lines
