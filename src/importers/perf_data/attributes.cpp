#include "importers/perf_data/attributes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "formats/perf_data.h"

namespace ringside::importers::perf_data {

using namespace formats::perf_data;
namespace {

constexpr std::size_t kFirstVersion = 64;  // bytes: PERF_ATTR_SIZE_VER0
constexpr std::uint64_t kCpuClock = 0;     // of kTypeSoftware
constexpr std::uint64_t kTaskClock = 1;
constexpr std::uint64_t kDummy = 9;

template <class T>
T at(Bytes bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

constexpr std::array<const char*, 10> kHardware = {"cycles",
                                                   "instructions",
                                                   "cache-references",
                                                   "cache-misses",
                                                   "branches",
                                                   "branch-misses",
                                                   "bus-cycles",
                                                   "stalled-cycles-frontend",
                                                   "stalled-cycles-backend",
                                                   "ref-cycles"};
constexpr std::array<const char*, 12> kSoftware = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

// How many of the fields up to and with `last` stand in the trailer, which has those of
// `sample_type` in this order.
std::size_t words_behind(std::uint64_t sample_type, std::uint64_t first_not_counted) {
  constexpr std::array kOrder = {sample::kTid,      sample::kTime, sample::kId,
                                 sample::kStreamId, sample::kCpu,  sample::kIdentifier};
  const auto begin = std::find(kOrder.begin(), kOrder.end(), first_not_counted);
  return static_cast<std::size_t>(std::count_if(
      begin, kOrder.end(), [&](std::uint64_t field) { return (sample_type & field) != 0; }));
}

// The field of the trailer.
std::optional<std::uint64_t> in_trailer(Bytes body, std::uint64_t sample_type,
                                        std::uint64_t field) {
  if ((sample_type & field) == 0) return std::nullopt;
  const std::size_t behind = 8 * words_behind(sample_type, field);
  if (body.size() < behind) return std::nullopt;
  return at<std::uint64_t>(body, body.size() - behind);
}

// Bytes in front of a field of a sample: those with lower bits are before it, and the identifier.
std::size_t offset_in_sample(std::uint64_t sample_type, std::uint64_t field) {
  if (field == sample::kIdentifier) return 0;
  std::uint64_t before = sample_type & (sample::kIdentifier | sample::kIp | sample::kTid |
                                        sample::kTime | sample::kAddr);
  if (field == sample::kTime) before &= ~(sample::kTime | sample::kAddr);
  return 8 * static_cast<std::size_t>(std::popcount(before));
}

}  // namespace

bool Attribute::has_frequency() const { return (flags & kFlagFrequency) != 0; }

bool Attribute::counts_time() const {
  return type == kTypeSoftware && (config == kCpuClock || config == kTaskClock);
}

bool Attribute::is_dummy() const { return type == kTypeSoftware && config == kDummy; }

std::string Attribute::default_name() const {
  if (type == kTypeHardware && config < kHardware.size()) return kHardware[config];
  if (type == kTypeSoftware && config < kSoftware.size()) return kSoftware[config];
  if (type == kTypeTracepoint) return fmt::format("tracepoint {}", config);
  return fmt::format("event type {}, config {:#x}", type, config);
}

std::size_t size_of_attribute(Bytes bytes) { return at<std::uint32_t>(bytes, 4); }

Result<Attribute> read_attribute(Bytes bytes) {
  const std::size_t size = size_of_attribute(bytes);
  if (size >= kFirstVersion) bytes = bytes.first(std::min(bytes.size(), size));
  if (bytes.size() < kFirstVersion)
    return fail(ErrorCode::kTruncated, "a perf_event_attr of {} bytes, which has 64 at least",
                bytes.size());
  Attribute attribute;
  attribute.type = at<std::uint32_t>(bytes, 0);
  attribute.config = at<std::uint64_t>(bytes, 8);
  attribute.period = at<std::uint64_t>(bytes, 16);
  attribute.sample_type = at<std::uint64_t>(bytes, 24);
  attribute.read_format = at<std::uint64_t>(bytes, 32);
  attribute.flags = at<std::uint64_t>(bytes, 40);
  attribute.branch_type = at<std::uint64_t>(bytes, 72);
  attribute.user_registers = at<std::uint64_t>(bytes, 80);
  attribute.interrupt_registers = at<std::uint64_t>(bytes, 96);
  attribute.max_stack = at<std::uint16_t>(bytes, 108);
  attribute.name = attribute.default_name();
  return attribute;
}

void Attributes::add(Attribute attribute, const std::vector<std::uint64_t>& ids) {
  if (all_.size() >= kMost) return;
  for (const std::uint64_t id : ids)
    if (by_id_.size() < kMostIds) by_id_.try_emplace(id, all_.size());
  all_.push_back(std::move(attribute));
}

void Attributes::set_name(std::uint64_t id, std::string name) {
  const auto found = by_id_.find(id);
  if (found != by_id_.end() && !name.empty()) all_[found->second].name = std::move(name);
}

void Attributes::name_number(std::size_t number, std::string name) {
  if (number < all_.size() && !name.empty()) all_[number].name = std::move(name);
}

std::optional<std::size_t> Attributes::with_id(std::uint64_t id) const {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) return found->second;
  // Records that perf has made itself.
  return id == 0 && !all_.empty() ? std::optional<std::size_t>(0) : std::nullopt;
}

std::optional<std::size_t> Attributes::of_sample(Bytes body) const {
  if (all_.size() == 1) return 0;
  // All events of a file have their ids at the same place.
  const std::uint64_t type = all_.empty() ? 0 : all_.front().sample_type;
  const std::uint64_t field = (type & sample::kIdentifier) != 0 ? sample::kIdentifier : sample::kId;
  if ((type & field) == 0) return all_.empty() ? std::nullopt : std::optional<std::size_t>(0);
  const std::size_t offset = offset_in_sample(type, field);
  if (offset + 8 > body.size()) return std::nullopt;
  return with_id(at<std::uint64_t>(body, offset));
}

std::optional<std::uint64_t> Attributes::time_of_sample(Bytes body) const {
  const auto number = of_sample(body);
  if (!number || !all_[*number].has(sample::kTime)) return std::nullopt;
  const std::size_t offset = offset_in_sample(all_[*number].sample_type, sample::kTime);
  if (offset + 8 > body.size()) return std::nullopt;
  return at<std::uint64_t>(body, offset);
}

Attributes::Trailer Attributes::trailer_of(Bytes body) const {
  if (all_.empty() || (all_.front().flags & kFlagSampleIdAll) == 0) return {};
  std::uint64_t type = all_.front().sample_type;
  Trailer trailer;
  const bool has_identifier = (type & sample::kIdentifier) != 0;
  trailer.id = in_trailer(body, type, has_identifier ? sample::kIdentifier : sample::kId);
  if (has_identifier && trailer.id)
    if (const auto number = with_id(*trailer.id)) type = all_[*number].sample_type;
  trailer.time = in_trailer(body, type, sample::kTime);
  return trailer;
}

}  // namespace ringside::importers::perf_data
