#include "importers/pprof/samples.h"

#include <algorithm>

#include "profile/sanitize.h"

namespace ringside::importers::pprof {
namespace {

constexpr std::size_t kMostLocations = 2048;   // of a sample
constexpr std::size_t kMostFrames = 512;       // as many as a stack of a recording has
constexpr std::uint32_t kMostNodes = 8 << 20;  // some 24 bytes each

constexpr std::uint64_t kOf64Bits = 1ULL << 63;

// Where the upper half of addresses begins, which kernels have, as seen from their code at
// `address`: 0 where they have no half of their own.
std::uint64_t kernel_half(GuestVirt address) {
  constexpr std::uint64_t kOf32Bits = 1ULL << 31;
  if (address.value >= kOf64Bits) return kOf64Bits;
  return address.value >= kOf32Bits && address.value >> 32 == 0 ? kOf32Bits : 0;
}

FrameKind kind_of(PrivilegeLevel level) {
  switch (level) {
    case PrivilegeLevel::kKernel:
      return FrameKind::kKernel;
    case PrivilegeLevel::kUser:
      return FrameKind::kUser;
    case PrivilegeLevel::kFirmware:
      return FrameKind::kFirmware;
    case PrivilegeLevel::kGuest:
      return FrameKind::kGuest;
    case PrivilegeLevel::kUnknown:
      break;
  }
  return FrameKind::kCode;
}

}  // namespace

std::string_view SampleReader::read(std::string_view message) {
  locations.clear();
  values.clear();
  owner = {};
  is_cut = false;
  FieldReader reader(message);
  Field field;
  while (reader.next(field))
    if (!take(field)) return "its numbers or labels are broken";
  if (reader.is_broken()) return "it is broken";
  if (values.size() != messages_.types.size())
    return "it has not as many values as there are types";
  for (std::uint64_t& id : locations) {
    const auto number = messages_.location_number(id);
    if (!number) return "one of its locations is not there";
    id = *number;
  }
  return {};
}

bool SampleReader::take(const Field& field) {
  switch (field.tag) {
    case field::kLocationId:
      if (append_numbers(field, kMostLocations, locations)) return true;
      is_cut = locations.size() == kMostLocations;
      return is_cut;
    case field::kValue:
      return append_numbers(field, messages_.types.size(), values);
    case field::kLabel:
      return !field.is_bytes || labels_.add(field.bytes, owner);
    default:
      return true;
  }
}

SampleWriter::SampleWriter(const Messages& messages, const ImportOptions& options,
                           const std::vector<std::size_t>& columns, recording::Writer& writer)
    : options_(options),
      messages_(messages),
      columns_(columns),
      writer_(writer),
      frames_of_(messages, images_, options, writer),
      names_(writer) {}

Result<void> SampleWriter::start() { return images_.add(messages_, options_, writer_); }

bool SampleWriter::has_room() const { return last_node_ < kMostNodes; }

Result<void> SampleWriter::add(SampleReader& sample) {
  recording::SampleInfo info;
  info.time_ns = count_;
  info.vcpu = sample.owner.vcpu;
  RINGSIDE_TRY(names_.add(count_, sample.owner));
  info.pid = sample.owner.pid;
  info.tid = sample.owner.tid;
  info.level = sample.owner.level.value_or(PrivilegeLevel::kUnknown);
  stacks_.clear();
  if (sample.owner.is_idle)
    info.disposition = wire::Disposition::kIdle;
  else
    RINGSIDE_TRY(add_stacks(sample, info.level));
  info.weight = sample.values[columns_.front()];
  more_values_.clear();
  for (std::size_t i = 1; i < columns_.size(); ++i)
    more_values_.push_back(static_cast<std::int64_t>(sample.values[columns_[i]]));
  ++count_;
  if (static_cast<std::int64_t>(info.weight) > 0) weight_ += info.weight;
  return writer_.add_sample(info, stacks_, more_values_);
}

// The kernel's part of the stack, and the user code that entered it.
Result<void> SampleWriter::add_stacks(const SampleReader& sample, PrivilegeLevel& level) {
  RINGSIDE_TRY(collect(sample));
  if (!sample.owner.level && images_.have_kernel() && !frames_.empty()) {
    const bool is_kernel = in_kernel_.front() || frames_.front().address.value >= kOf64Bits;
    level = is_kernel ? PrivilegeLevel::kKernel : PrivilegeLevel::kUser;
  }
  // Interrupts that are charged to nobody.
  const bool is_interrupt = !sample.owner.pid && sample.owner.name == profile::kInterruptName;
  const std::size_t kernel = level == PrivilegeLevel::kKernel ? kernel_part() : frames_.size();
  add_part(0, kernel, is_interrupt ? FrameKind::kInterrupt : kind_of(level));
  add_part(kernel, frames_.size(), FrameKind::kUser);
  if (sample.is_cut && !stacks_.empty()) stacks_.back().stop = StopReason::kTooDeep;
  const bool is_cut = std::any_of(stacks_.begin(), stacks_.end(), [](const auto& stack) {
    return stack.stop == StopReason::kTooDeep;
  });
  cut_ += is_cut ? 1 : 0;
  return {};
}

Result<void> SampleWriter::collect(const SampleReader& sample) {
  frames_.clear();
  in_kernel_.clear();
  for (const std::uint64_t location : sample.locations) {
    RINGSIDE_ASSIGN(const auto found, frames_of_.of(location));
    if (frames_.size() + found.frames.size() > 2 * kMostLocations) break;
    frames_.insert(frames_.end(), found.frames.begin(), found.frames.end());
    in_kernel_.resize(frames_.size(), found.is_kernel);
  }
  return {};
}

// How many frames of a stack that begins in the kernel are the kernel's.
std::size_t SampleWriter::kernel_part() const {
  if (frames_.empty()) return 0;
  const std::uint64_t half = kernel_half(frames_.front().address);
  for (std::size_t i = 1; i < frames_.size(); ++i) {
    const std::uint64_t address = frames_[i].address.value;
    const bool is_kernel = half == 0 ? !in_kernel_.front() : address == 0 || address >= half;
    if (!is_kernel && !in_kernel_[i]) return i;
  }
  return frames_.size();
}

void SampleWriter::add_part(std::size_t begin, std::size_t end, FrameKind kind) {
  if (begin == end) return;
  const auto part = std::span(frames_).subspan(begin, std::min(end - begin, kMostFrames));
  for (recording::RecordedFrame& frame : part) frame.kind = kind;
  const bool has_names =
      std::any_of(part.begin(), part.end(), [](const auto& frame) { return frame.function != 0; });
  stacks_.push_back(has_names ? writer_.add_stack(part) : add_nameless(part));
  if (part.size() < end - begin) stacks_.back().stop = StopReason::kTooDeep;
  last_node_ = std::max(last_node_, stacks_.back().node);
}

// The recording's mappings find the image of frames that have none.
recording::StackRef SampleWriter::add_nameless(std::span<const recording::RecordedFrame> part) {
  nameless_.stop = StopReason::kEndOfStack;
  nameless_.frames.clear();
  for (const recording::RecordedFrame& frame : part)
    nameless_.frames.push_back({frame.address, frame.exact, frame.source, frame.kind, frame.image});
  return writer_.add_stack(nameless_, 0);
}

}  // namespace ringside::importers::pprof
