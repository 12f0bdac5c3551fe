#include "cases/recorded_captures.h"

#include <algorithm>

namespace ringside::cases {
namespace {

class Picker final : public recording::Visitor {
 public:
  explicit Picker(const std::vector<std::size_t>& numbers) : numbers_(numbers) {}
  void capture(const wire::Capture& capture) override {
    if (std::binary_search(numbers_.begin(), numbers_.end(), next_++)) picked_.push_back(capture);
  }
  [[nodiscard]] std::vector<wire::Capture> take() { return std::move(picked_); }

 private:
  const std::vector<std::size_t>& numbers_;
  std::size_t next_ = 0;
  std::vector<wire::Capture> picked_;
};

}  // namespace

void RecordedCaptures::capture(const wire::Capture& capture) {
  Entry entry;
  // Without its sample, which a lost block held, it is still a capture.
  entry.info.time_ns = capture.host_time_ns;
  entry.info.vcpu = capture.vcpu;
  entry.info.level = capture.level;
  entry.stack = {recording::kLostStack, StopReason::kNoRegisters, {}};
  const bool same =
      sample_.info.time_ns == capture.host_time_ns && sample_.info.vcpu == capture.vcpu;
  if (same && !sample_.stacks.empty()) entry = {sample_.info, sample_.stacks.front()};
  entries_.push_back(entry);
}

void RecordedCaptures::blob(const recording::Blob& blob) {
  if (blob.kind == recording::kImageFileBlob)
    image_files_[blob.image].assign(blob.content.begin(), blob.content.end());
  if (blob.kind != kTrapFrameLayoutsBlob) return;
  trap_frame_layouts_.assign(reinterpret_cast<const char*>(blob.content.data()),
                             blob.content.size());
}

std::vector<recording::RecordedFrame> RecordedCaptures::frames_of(const Entry& entry) const {
  std::vector<recording::RecordedFrame> frames;
  if (entry.stack.node == recording::kLostStack) return frames;
  for (std::uint32_t node = entry.stack.node; node != 0; node = nodes_[node - 1].parent)
    frames.push_back(frames_[nodes_[node - 1].frame - 1]);
  return frames;
}

Result<std::vector<wire::Capture>> read_captures(recording::Reader& reader,
                                                 const std::vector<std::size_t>& numbers) {
  Picker picker(numbers);
  RINGSIDE_TRY(reader.for_each(picker));
  return picker.take();
}

}  // namespace ringside::cases
