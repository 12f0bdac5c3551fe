#include "unwind/return_hook.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "base/little_endian.h"

namespace ringside::unwind {
namespace {

// Reads records from what was copied of them.
class RecordReader {
 public:
  RecordReader(const ReturnHook& hook, const wire::Capture& capture)
      : hook_(hook), capture_(capture), word_(arch::roles_of(capture.arch).pointer_size) {}

  [[nodiscard]] std::vector<HookedReturn> read(const wire::MemoryPiece& state) {
    if (hook_.records == ReturnHook::Records::kList) {
      for (const wire::MemoryPiece& piece : capture_.pieces)
        if (piece.tag == hook_.records_tag) add(capture_.bytes_of(piece));
      return std::move(found_);
    }
    const wire::MemoryPiece* records = capture_.tagged(hook_.records_tag);
    const auto newest = number(capture_.bytes_of(state), 0, sizeof(std::int32_t));
    if (records == nullptr || !newest) return {};
    if (hook_.records == ReturnHook::Records::kArray)
      read_array(capture_.bytes_of(*records), static_cast<std::int32_t>(*newest));
    else
      read_shadow_stack(capture_.bytes_of(*records), *newest);
    return std::move(found_);
  }

 private:
  [[nodiscard]] static std::optional<std::uint64_t> number(Bytes bytes, std::size_t at,
                                                           std::size_t size) {
    if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
    return load_unsigned(bytes, at, size);
  }

  void read_array(Bytes array, std::int64_t newest) {
    if (newest < -1 || hook_.record_size == 0) return;
    const auto copied = static_cast<std::int64_t>(array.size() / hook_.record_size);
    for (std::int64_t i = std::min(newest + 1, copied - 1); i >= 0; --i)
      add(array.subspan(static_cast<std::size_t>(i) * hook_.record_size), i > newest);
  }

  // kernel/trace/fgraph.c, get_ret_stack().
  void read_shadow_stack(Bytes stack, std::uint64_t words) {
    constexpr std::uint64_t kDistance = (1u << 10) - 1;
    if (words * word_ < stack.size()) add(stack.subspan(words * word_), true);
    while (words > 0) {
      const auto last = number(stack, (words - 1) * word_, word_);
      const std::uint64_t distance = last.value_or(0) & kDistance;
      if (distance == 0 || distance >= words) return;
      words -= 1 + distance;
      add(stack.subspan(words * word_));
    }
  }

  void add(Bytes record, bool is_removed = false) {
    const auto address = number(record, hook_.return_offset, word_);
    if (!address) return;
    HookedReturn added{
        .address = {*address}, .function = {}, .frames = {}, .is_removed = is_removed};
    if (hook_.function_offset)
      if (const auto function = number(record, *hook_.function_offset, word_))
        added.function = GuestVirt{*function};
    for (const std::uint32_t offset : hook_.frame_offsets)
      if (const auto frame = number(record, offset, word_); frame && *frame != 0)
        added.frames.push_back(*frame);
    found_.push_back(std::move(added));
  }

  const ReturnHook& hook_;
  const wire::Capture& capture_;
  std::size_t word_;
  std::vector<HookedReturn> found_;
};

}  // namespace

std::optional<std::vector<HookedReturn>> hooked_returns(const ReturnHook& hook,
                                                        const wire::Capture& capture) {
  const wire::MemoryPiece* state =
      hook.records == ReturnHook::Records::kNone ? nullptr : capture.tagged(hook.state_tag);
  if (state == nullptr) return std::nullopt;
  return RecordReader(hook, capture).read(*state);
}

}  // namespace ringside::unwind
