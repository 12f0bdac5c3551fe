#include "importers/perf_data/main_event.h"

#include <algorithm>
#include <vector>

#include "formats/perf_data.h"
#include "importers/perf_data/record_reader.h"

namespace ringside::importers::perf_data {
namespace {

class SampleCounts final : public RecordSink {
 public:
  explicit SampleCounts(const Attributes& attributes)
      : attributes_(attributes), counts_(attributes.all().size()) {}

  Result<void> record(const RawRecord& record) override {
    if (record.type != static_cast<std::uint32_t>(formats::perf_data::RecordType::kSample))
      return {};
    if (const auto event = attributes_.of_sample(record.body)) ++counts_[*event];
    return {};
  }
  void progress(std::uint64_t) override {}

  [[nodiscard]] const std::vector<std::uint64_t>& all() const { return counts_; }

 private:
  const Attributes& attributes_;
  std::vector<std::uint64_t> counts_;  // by event
};

}  // namespace

std::size_t main_event(const FileHeader& header, std::size_t first) {
  constexpr std::size_t kEnough = 64 << 20;
  if (header.attributes.all().size() < 2) return first;
  Chunks chunks;
  Faults faults;  // the import itself reports them
  SampleCounts counts(header.attributes);
  const auto read =
      RecordReader(chunks, faults, counts)
          .read(header.records.first(std::min(header.records.size(), kEnough)), header.records_at);
  const auto most = std::max_element(counts.all().begin(), counts.all().end());
  return !read || *most == 0 ? first : static_cast<std::size_t>(most - counts.all().begin());
}

}  // namespace ringside::importers::perf_data
