#include "exporters/perf/perf_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "elf/image_map.h"
#include "exporters/perf/perf_names.h"

namespace ringside::exporters {
namespace {

class EventLister final : public recording::Visitor {
 public:
  void source(const recording::Source& value) override { sources_.push_back(value); }
  void sample_batch(const recording::SampleBatch& batch) override {
    samples_[batch.source] += batch.size();
  }
  void event_type(const recording::EventType& value) override { owners_[value.id] = value.source; }
  void events(const recording::EventBatch& batch) override {
    samples_[owners_[batch.type]] += batch.size();
  }

  // A recording without a source has the one of its header.
  [[nodiscard]] std::vector<recording::Source> sources(const recording::Header& header) const {
    return sources_.empty() ? std::vector{recording::cpu_source(header)} : sources_;
  }
  [[nodiscard]] std::uint64_t samples_of(std::uint32_t source) const {
    const auto found = samples_.find(source);
    return found == samples_.end() ? 0 : found->second;
  }

 private:
  std::vector<recording::Source> sources_;
  std::map<std::uint32_t, std::uint64_t> samples_;  // by source
  std::map<std::uint32_t, std::uint32_t> owners_;   // sources, by type of event
};

class ImageLister final : public recording::Visitor {
 public:
  void image(const recording::ImageInfo& value) override { images_.push_back(value); }
  // The kernel first; the rest as they were recorded.
  [[nodiscard]] std::vector<recording::ImageInfo> images() {
    std::stable_partition(images_.begin(), images_.end(), [](const recording::ImageInfo& image) {
      return image.name == elf::kKernelImage;
    });
    return std::move(images_);
  }

 private:
  std::vector<recording::ImageInfo> images_;
};

std::string details_of(const recording::Source& source, std::uint64_t samples) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  std::string text;
  if (source.clock == recording::kHostClock && source.period != 0)
    text += fmt::format("sample_freq={}, ",
                        std::max<std::uint64_t>((kSecond + source.period / 2) / source.period, 1));
  std::vector<std::string> values;
  for (const recording::ValueType& value : source.values)
    values.push_back(fmt::format("{} ({})", value.name, name_of(value.unit)));
  return text + fmt::format("values: {}, samples: {}", fmt::join(values, " "), samples);
}

}  // namespace

Result<void> write_event_list(recording::Reader& reader, bool detail, Sink& sink) {
  EventLister lister;
  RINGSIDE_TRY(reader.for_each(lister));
  for (const recording::Source& source : lister.sources(reader.header())) {
    std::string line = event_of(reader.header(), source);
    if (detail) line += ": " + printable_line(details_of(source, lister.samples_of(source.id)));
    RINGSIDE_TRY(sink.write(line + "\n"));
  }
  return {};
}

std::string build_id_line(const std::vector<std::byte>& build_id, const std::string& path) {
  return fmt::format("{:<40} {}\n", hex_text(build_id), path);
}

Result<void> write_build_ids(recording::Reader& reader, Sink& sink) {
  ImageLister lister;
  RINGSIDE_TRY(reader.for_each(lister));
  std::set<std::string> written;
  for (const recording::ImageInfo& image : lister.images()) {
    if (image.build_id.empty()) continue;
    const std::string line = build_id_line(image.build_id, dso_name(image));
    if (written.insert(line).second) RINGSIDE_TRY(sink.write(line));
  }
  return {};
}

}  // namespace ringside::exporters
