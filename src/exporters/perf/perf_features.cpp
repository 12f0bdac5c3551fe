#include "exporters/perf/perf_features.h"

#include <algorithm>

#include "base/text.h"
#include "exporters/parts/thread_numbers.h"
#include "exporters/perf/perf_record.h"
#include "profile/sanitize.h"

namespace ringside::exporters::perf {
namespace {

using recording::Source;

constexpr std::uint64_t kSecond = 1'000'000'000;

// Structures and numbers of linux/perf_event.h.
constexpr std::uint32_t kTypeSoftware = 1;
constexpr std::uint64_t kCpuClock = 0;  // of that type, which counts nanoseconds
constexpr std::uint32_t kTypeRaw = 4;
constexpr std::uint64_t kSampleType = 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 16;
constexpr std::uint64_t kMmapFlag = 1 << 8;
constexpr std::uint64_t kCommFlag = 1 << 9;
constexpr std::uint64_t kFrequencyFlag = 1 << 10;
constexpr std::uint64_t kSampleIdAllFlag = 1 << 18;
constexpr std::uint64_t kMmap2Flag = 1 << 23;
constexpr std::uint64_t kBuildIdFlag = std::uint64_t{1} << 34;
struct EventAttribute {
  std::uint32_t type = kTypeRaw;
  std::uint32_t size = sizeof(EventAttribute);
  std::uint64_t config = 0;
  std::uint64_t period = 1;  // or the frequency
  std::uint64_t sample_type = kSampleType;
  std::uint64_t read_format = 0;
  std::uint64_t flags = kMmapFlag | kCommFlag | kSampleIdAllFlag | kMmap2Flag | kBuildIdFlag;
  std::uint64_t unused[8] = {};
};
static_assert(sizeof(EventAttribute) == 112);  // PERF_ATTR_SIZE_VER5

// perf's header has texts with their size, which is a multiple of 64 and counts a NUL at least.
void add_text(std::string& bytes, std::string_view text) {
  constexpr std::size_t kUnit = 64;
  constexpr std::size_t kMostText = 4000;
  const std::string line = printable_line(text.substr(0, kMostText));
  const std::size_t size = (line.size() / kUnit + 1) * kUnit;
  add(bytes, static_cast<std::uint32_t>(size));
  bytes += line;
  bytes.append(size - line.size(), '\0');
}

std::string text(std::string_view content) {
  std::string bytes;
  add_text(bytes, content);
  return bytes;
}

std::string processors(std::uint32_t count) {
  std::string bytes;
  add(bytes, count);  // there are
  add(bytes, count);  // in use
  return bytes;
}

std::string command_line(const std::vector<std::string>& words) {
  constexpr std::size_t kMostWords = 64;
  const std::size_t count = std::min(words.size(), kMostWords);
  std::string bytes;
  add(bytes, static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) add_text(bytes, words[i].substr(0, 512));
  return bytes;
}

std::string events(const profile::DetailedProfile& profile,
                   const std::vector<std::string>& attributes) {
  std::string bytes;
  add(bytes, static_cast<std::uint32_t>(attributes.size()));
  add(bytes, static_cast<std::uint32_t>(sizeof(EventAttribute)));
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    bytes += attributes[i];
    add(bytes, std::uint32_t{1});  // ids
    add_text(bytes, event_name(profile, i));
    add(bytes, event_id(i));
  }
  return bytes;
}

// As uname has it.
const char* machine_of(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return "x86_64";
    case Arch::kI386:
      return "i686";
    case Arch::kAArch64:
      return "aarch64";
    case Arch::kRiscv64:
      return "riscv64";
    case Arch::kUnknown:
      break;
  }
  return "";
}

}  // namespace

// hotspot knows the unit of an event by its type: it shows those of the processor's clock as times,
// and raw ones as numbers. perf passes over "dummy" events in parts.
std::vector<std::string> attributes_of(const profile::DetailedProfile& profile) {
  std::vector<std::string> all;
  for (const profile::ChosenSource& chosen : profile.sources()) {
    EventAttribute attribute;
    attribute.config = event_id(all.size());
    const bool is_time =
        !chosen.values.empty() &&
        chosen.source.values[chosen.values.front()].unit == recording::WeightUnit::kNanoseconds;
    if (is_time) {
      attribute.type = kTypeSoftware;
      attribute.config = kCpuClock;
    }
    if (chosen.source.clock == recording::kHostClock && chosen.source.period != 0) {
      attribute.flags |= kFrequencyFlag;
      attribute.period = std::max<std::uint64_t>(kSecond / chosen.source.period, 1);
    }
    all.emplace_back(reinterpret_cast<const char*>(&attribute), sizeof attribute);
  }
  return all;
}

std::string event_name(const profile::DetailedProfile& profile, std::size_t source) {
  constexpr std::size_t kMostName = 512;
  return profile::sanitize(profile.sources()[source].source.name.substr(0, kMostName));
}

std::vector<Feature> features_of(const profile::DetailedProfile& profile,
                                 const std::vector<std::string>& attributes) {
  const recording::Header& header = profile.profile().header;
  const std::string machine = machine_of(header.arch);
  std::vector<Feature> features;
  // hotspot takes a header without it for one of another byte order.
  features.push_back({FeatureId::kHostname, text(header.host)});
  const std::string& release =
      header.kernel_release.empty() ? header.kernel : header.kernel_release;
  if (!release.empty()) features.push_back({FeatureId::kRelease, text(release)});
  features.push_back({FeatureId::kVersion, text("ringside " + header.ringside_version)});
  if (!machine.empty()) features.push_back({FeatureId::kArch, text(machine)});
  if (header.vcpu_count != 0)
    features.push_back({FeatureId::kProcessors, processors(header.vcpu_count)});
  if (!header.command_line.empty())
    features.push_back({FeatureId::kCommandLine, command_line(header.command_line)});
  features.push_back({FeatureId::kEvents, events(profile, attributes)});
  return features;
}

std::string build_id_record(const PerfImage& image) {
  RecordBuilder record;
  const std::uint16_t mode = image.is_kernel ? kKernelMode : kUserMode;
  record.begin(RecordType::kBuildId, static_cast<std::uint16_t>(mode | kMiscBuildIdSize));
  record.add(kNobody);  // of the host, not of a guest that perf records
  std::string id(reinterpret_cast<const char*>(image.build_id.data()), image.build_id.size());
  id.resize(kMostBuildId);
  record.add_bytes(id);
  record.add(static_cast<std::uint32_t>(image.build_id.size()));
  record.add_text(image.path);
  return std::string(record.end());
}

}  // namespace ringside::exporters::perf
