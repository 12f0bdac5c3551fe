#include "importers/perf_data/stacks.h"

#include <xxhash.h>

#include <algorithm>

namespace ringside::importers::perf_data {
namespace {

// The kernel's limit on the entries of a call chain where a recording does not set one
// (kernel.perf_event_max_stack).
constexpr std::size_t kDefaultMaxStack = 127;

bool is_user(CpuMode mode) { return mode == CpuMode::kUser || mode == CpuMode::kGuestUser; }

// The mode of the addresses behind a mark.
CpuMode mode_behind(std::uint64_t mark) {
  switch (mark) {
    case kContextKernel:
      return CpuMode::kKernel;
    case kContextUser:
      return CpuMode::kUser;
    case kContextHypervisor:
      return CpuMode::kHypervisor;
    case kContextGuest:
    case kContextGuestKernel:
      return CpuMode::kGuestKernel;
    case kContextGuestUser:
      return CpuMode::kGuestUser;
    default:
      return CpuMode::kUnknown;
  }
}

bool is_full(const SampleRecord& sample, const Attribute& attribute, std::size_t entries) {
  const std::size_t most = attribute.max_stack != 0 ? attribute.max_stack : kDefaultMaxStack;
  return sample.has_callchain && entries == most;
}

}  // namespace

PrivilegeLevel level_of(CpuMode mode) {
  if (mode == CpuMode::kUnknown) return PrivilegeLevel::kUnknown;
  return is_user(mode) ? PrivilegeLevel::kUser : PrivilegeLevel::kKernel;
}

// A sample's own address is exact where the processor can tell it; the chain begins near it.
void Stacks::split(const SampleRecord& sample, CpuMode mode) {
  parts_.clear();
  const Words& chain = sample.callchain;
  CpuMode now = mode;
  for (std::size_t i = 0; i < chain.size();) {
    if (chain[i] >= kLowestContext) {
      now = mode_behind(chain[i++]);
      // Walks by frame pointers come to anything, where code keeps none.
      if (now == CpuMode::kUnknown) break;
      continue;
    }
    const std::size_t first = i;
    while (i < chain.size() && chain[i] < kLowestContext) ++i;
    if (parts_.size() >= recording::kMostStacks - 1) break;
    parts_.push_back({now, chain[first], chain.from(first + 1).first(i - first - 1)});
  }
  if (!sample.ip) return;
  if (!parts_.empty() && parts_.front().mode == mode)
    parts_.front().leaf = *sample.ip;
  else if (!parts_.empty() && !is_user(mode) && is_user(parts_.front().mode))
    parts_.insert(parts_.begin(), {mode, *sample.ip, {}});
}

// For `--call-graph lbr` (tools/perf/util/machine.c, resolve_lbr_callchain_sample): the newest
// entry is the call of the function that runs.
void Stacks::take_recorded_calls(const SampleRecord& sample, CpuMode mode) {
  std::erase_if(parts_, [](const Part& part) { return is_user(part.mode); });
  constexpr std::size_t kWords = 3;
  calls_.clear();
  for (std::size_t i = 0; i < sample.branches.size(); i += kWords)
    calls_.push_back(sample.branches[i]);
  const std::uint64_t leaf = is_user(mode) && sample.ip ? *sample.ip : sample.branches[1];
  parts_.push_back({CpuMode::kUser, leaf, Words(std::as_bytes(std::span(calls_))), true});
}

Result<std::span<const recording::StackRef>> Stacks::of(const SampleRecord& sample,
                                                        const Attribute& attribute, CpuMode mode,
                                                        const UserSpaces::Version& space) {
  split(sample, mode);
  if ((attribute.branch_type & branch::kCallStack) != 0 && !sample.branches.empty())
    take_recorded_calls(sample, mode);
  stacks_.clear();
  std::size_t entries = 0;
  bool has_user = false;
  for (const Part& part : parts_) {
    entries += 1 + part.callers.size();
    has_user |= is_user(part.mode);
  }
  const bool is_unwound = !has_user && !sample.user_stack.empty() &&
                          unwinding_.take(sample, attribute.user_registers, level_of(mode));
  const bool is_alone = parts_.empty() && sample.ip && !(is_unwound && is_user(mode));
  if (is_alone) parts_.push_back({mode, *sample.ip, {}});
  for (const Part& part : parts_) {
    RINGSIDE_ASSIGN(recording::StackRef ref, stack_of(part, space));
    ref.stop = StopReason::kUserMode;
    stacks_.push_back(ref);
  }
  if (is_unwound) {
    RINGSIDE_ASSIGN(const recording::StackRef ref, unwinding_.unwind(space));
    stacks_.push_back(ref);
  } else if (!stacks_.empty()) {
    stacks_.back().stop =
        is_full(sample, attribute, entries) ? StopReason::kTooDeep : StopReason::kEndOfStack;
  }
  return stacks_;
}

Stacks::Key Stacks::key_of(const Part& part, const UserSpaces::Version& space) const {
  const std::uint64_t version = part.mode == CpuMode::kUser          ? space.number
                                : part.mode == CpuMode::kGuestKernel ? guest_.version()
                                                                     : host_.version();
  const std::uint64_t traits = static_cast<std::uint64_t>(part.mode) << 1 | part.are_calls;
  const std::uint64_t seed = mixed(mixed(version << 8 | traits) ^ part.leaf);
  const Bytes bytes = part.callers.bytes();
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64 ^ part.leaf};
}

Result<recording::StackRef> Stacks::stack_of(const Part& part, const UserSpaces::Version& space) {
  if (known_.size() >= kMostKnown) known_.clear();
  const std::uint32_t number = known_.find_or_add(key_of(part, space));
  if (!known_[number].is_known) {
    RINGSIDE_ASSIGN(known_[number].node, node_of(part, space));
    known_[number].is_known = true;
  }
  recording::StackRef ref;
  ref.node = known_[number].node;
  return ref;
}

Result<std::uint32_t> Stacks::node_of(const Part& part, const UserSpaces::Version& space) {
  frames_.clear();
  RINGSIDE_ASSIGN(const auto leaf, frame_of(part.mode, part.leaf, true, space));
  frames_.push_back(leaf);
  const bool exact = part.are_calls || features_.has_exact_callers();
  for (std::size_t i = 0; i < part.callers.size(); ++i) {
    RINGSIDE_ASSIGN(const auto frame, frame_of(part.mode, part.callers[i], exact, space));
    frames_.push_back(frame);
  }
  return writer_->add_stack(frames_).node;
}

Result<recording::RecordedFrame> Stacks::frame_of(CpuMode mode, std::uint64_t address, bool exact,
                                                  const UserSpaces::Version& space) {
  if (mode == CpuMode::kKernel) return host_.frame_at(address, exact);
  if (mode == CpuMode::kGuestKernel) return guest_.frame_at(address, exact);
  recording::RecordedFrame frame;
  frame.address = GuestVirt{address};
  frame.exact = exact;
  frame.source = exact ? FrameSource::kRegisters : FrameSource::kFramePointer;
  frame.kind = is_user(mode)                  ? FrameKind::kUser
               : mode == CpuMode::kHypervisor ? FrameKind::kKernel
                                              : FrameKind::kCode;
  if (mode != CpuMode::kUser || !space.space) return frame;
  const std::uint64_t at = frame.lookup_address().value;
  const UserSpace::Range* const range = space.space->find(at);
  if (range == nullptr) return frame;
  RINGSIDE_ASSIGN(const auto place, images_.place_of(*range));
  RINGSIDE_TRY(images_.note(place.image, at));
  frame.image = place.image;
  frame.address = GuestVirt{address - place.load_bias};
  return frame;
}

}  // namespace ringside::importers::perf_data
