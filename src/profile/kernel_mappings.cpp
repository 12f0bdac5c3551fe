#include "profile/kernel_mappings.h"

namespace ringside::profile {

void KernelMappings::add(const recording::Mapping& mapping) {
  constexpr std::size_t kMost = 10'000;
  std::vector<recording::Mapping>& mappings = epochs_.back();
  if (mapping.address_space == 0 && mappings.size() < kMost) mappings.push_back(mapping);
}

void KernelMappings::place(recording::RecordedFrame& frame, std::size_t epoch) const {
  if (frame.image != 0 || !is_kernel(frame.kind) || epoch >= epochs_.size()) return;
  const recording::Mapping* there = nullptr;
  const GuestVirt at = frame.lookup_address();
  for (const recording::Mapping& mapping : epochs_[epoch]) {
    if (at < mapping.start || at >= mapping.end) continue;
    if (there != nullptr && there->image != mapping.image) return;
    there = &mapping;
  }
  if (there == nullptr) return;
  frame.image = there->image;
  frame.mapping = there->id;
}

}  // namespace ringside::profile
