#include "exporters/samples/pprof.h"

#include <map>
#include <protozero/pbf_writer.hpp>
#include <unordered_map>

#include "base/pair_table.h"
#include "base/text.h"
#include "elf/image_map.h"
#include "exporters/parts/gzip_sink.h"
#include "exporters/parts/value_columns.h"
#include "formats/pprof.h"
#include "profile/sanitize.h"
#include "views/owner.h"

namespace ringside::exporters {
namespace {

using profile::DetailedFrame;
using profile::DetailedProfile;
using profile::StringId;
using protozero::pbf_writer;

namespace tag = formats::pprof;  // numbers of fields

const char* unit_of(recording::WeightUnit unit) {
  switch (unit) {
    case recording::WeightUnit::kNanoseconds:
      return "nanoseconds";
    case recording::WeightUnit::kBytes:
      return "bytes";
    default:
      return "count";
  }
}

// Messages that refer to others come in any order, so samples are written first, and what they use
// behind them.
class PprofWriter {
 public:
  PprofWriter(DetailedProfile& profile, const ExportOptions& options, Sink& sink)
      : profile_(profile), options_(options), sink_(sink) {}

  Result<void> write() {
    const std::vector<ValueColumn> columns = value_columns(profile_);
    GroupSums sums(profile_, columns);
    RINGSIDE_TRY(profile_.for_each(sums));
    write_header(columns);
    // pprof calls a profile after its first mapping.
    for (const auto& [id, image] : profile_.images())
      if (image.name == elf::kKernelImage) mapping_of(image);
    RINGSIDE_TRY(flush());
    for (std::uint32_t group = 0; group < profile_.group_count(); ++group) {
      if (!sums.has(group) || !views::is_shown(profile_.owner_of(group), options_.show_idle))
        continue;
      write_sample(group, columns, sums);
      RINGSIDE_TRY(flush());
    }
    write_mappings();
    for (StringId id = 0; id < strings_.size(); ++id) {
      message_.add_string(tag::kStringTable, std::string(strings_[id]));
      RINGSIDE_TRY(flush());
    }
    return {};
  }

 private:
  void write_value_type(tag::Profile field, std::string_view name, std::string_view unit) {
    std::string bytes;
    pbf_writer type(bytes);
    type.add_int64(tag::kType, strings_.intern(name));
    type.add_int64(tag::kUnit, strings_.intern(unit));
    message_.add_message(field, bytes);
  }

  void write_header(const std::vector<ValueColumn>& columns) {
    const profile::Profile& all = profile_.profile();
    for (const ValueColumn& column : columns)
      write_value_type(tag::kSampleType, column.name, unit_of(column.unit));
    message_.add_int64(tag::kTimeNanos, static_cast<std::int64_t>(all.header.start_wall_ns));
    if (all.recorded)
      message_.add_int64(tag::kDurationNanos, static_cast<std::int64_t>(all.recorded->duration_ns));
    if (!columns.empty()) {
      const recording::Source& first = profile_.sources().front().source;
      const bool is_time = first.clock == recording::kHostClock;
      write_value_type(tag::kPeriodType, profile::sanitize(first.name),
                       is_time ? "nanoseconds" : "count");
      message_.add_int64(tag::kPeriod, static_cast<std::int64_t>(first.period));
      message_.add_int64(tag::kDefaultSampleType, strings_.intern(columns.front().name));
    }
    for (const std::string& comment : comments())
      message_.add_int64(tag::kComment, strings_.intern(comment));
  }

  [[nodiscard]] std::vector<std::string> comments() const {
    const profile::Profile& all = profile_.profile();
    std::vector<std::string> texts = {"ringside " + printable_line(all.header.ringside_version) +
                                      ", engine " + printable_line(all.header.engine) +
                                      ", kernel " + printable_line(all.header.kernel)};
    if (all.recorded)
      texts.push_back(fmt::format("{} ticks of vCPUs were due, {} of them are lost",
                                  all.recorded->due, all.recorded->lost));
    if (!all.damage.empty()) texts.push_back(printable_line(all.damage));
    for (const std::string& warning : all.warnings) texts.push_back(printable_line(warning));
    return texts;
  }

  void write_sample(std::uint32_t group, const std::vector<ValueColumn>& columns,
                    const GroupSums& sums) {
    locations_.clear();
    for (const profile::StackEntry& entry : profile_.stack_of(group))
      locations_.push_back(location_of(entry));
    if (locations_.empty()) locations_.push_back(idle_location());
    sample_.clear();
    pbf_writer sample(sample_);
    sample.add_packed_uint64(tag::kLocationId, locations_.begin(), locations_.end());
    values_.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) values_.push_back(sums.sum(group, i));
    sample.add_packed_int64(tag::kValue, values_.begin(), values_.end());
    const profile::Owner& owner = profile_.owner_of(group);
    if (owner.pid) add_number(sample, "pid", *owner.pid);
    if (owner.tid) add_number(sample, "tid", *owner.tid);
    if (owner.comm != 0) add_text(sample, "comm", profile_.profile().strings[owner.comm]);
    if (owner.cgroup != 0) add_text(sample, "cgroup", profile_.profile().strings[owner.cgroup]);
    if (owner.vcpu != recording::kNoVcpu) add_number(sample, "vcpu", owner.vcpu.value);
    add_text(
        sample, "mode",
        owner.disposition == wire::Disposition::kIdle ? "idle" : views::level_name(owner.level));
    message_.add_message(tag::kSample, sample_);
  }

  // As text: pprof shows a number with a unit.
  void add_number(pbf_writer& sample, std::string_view key, std::uint64_t number) {
    add_text(sample, key, fmt::format("{}", number));
  }
  void add_text(pbf_writer& sample, std::string_view key, std::string_view text) {
    std::string bytes;
    pbf_writer label(bytes);
    label.add_int64(tag::kKey, strings_.intern(key));
    label.add_int64(tag::kText, strings_.intern(text));
    sample.add_message(tag::kLabel, bytes);
  }

  // Ids of locations count from 1.
  std::uint64_t location_of(const profile::StackEntry& entry) {
    const std::uint32_t id = location_ids_.intern(entry.frame, entry.knows_mappings ? 1 : 0);
    if (id == locations_written_) {
      ++locations_written_;
      write_location(id + 1, profile_.frame(entry));
    }
    return id + 1;
  }
  std::uint64_t idle_location() {
    constexpr std::uint32_t kIdle = 0xffffffff;
    const std::uint32_t id = location_ids_.intern(kIdle, 0);
    if (id < locations_written_) return id + 1;
    ++locations_written_;
    std::string bytes;
    pbf_writer location(bytes);
    location.add_uint64(tag::kLocationNumber, id + 1);
    std::string line_bytes;
    pbf_writer(line_bytes)
        .add_uint64(tag::kFunctionOf, function_of(strings_.intern(profile::kIdleName), 0));
    location.add_message(tag::kLine, line_bytes);
    message_.add_message(tag::kLocation, bytes);
    return id + 1;
  }

  void write_location(std::uint64_t id, const DetailedFrame& frame) {
    const profile::Profile& all = profile_.profile();
    std::string bytes;
    pbf_writer location(bytes);
    location.add_uint64(tag::kLocationNumber, id);
    if (frame.image != nullptr) location.add_uint64(tag::kMappingOf, mapping_of(*frame.image));
    location.add_uint64(tag::kAddress, frame.lookup_address().value);
    for (std::size_t i = frame.functions.size(); i-- > 0;) {  // innermost first
      const profile::Place place = frame.place(i);
      std::string line_bytes;
      pbf_writer line(line_bytes);
      const StringId file = strings_.intern(all.strings[place.file]);
      line.add_uint64(tag::kFunctionOf,
                      function_of(strings_.intern(all.name(frame.functions[i])), file));
      if (place.line != 0) line.add_int64(tag::kLineNumber, place.line);
      location.add_message(tag::kLine, line_bytes);
    }
    message_.add_message(tag::kLocation, bytes);
  }

  std::uint64_t function_of(StringId name, StringId file) {
    const std::uint32_t id = function_ids_.intern(name, file);
    if (id < functions_written_) return id + 1;
    ++functions_written_;
    std::string bytes;
    pbf_writer function(bytes);
    // Without a system_name, which pprof takes for a name that is to be demangled and shortened.
    function.add_uint64(tag::kFunctionId, id + 1);
    function.add_int64(tag::kName, name);
    function.add_int64(tag::kFile, file);
    message_.add_message(tag::kFunction, bytes);
    return id + 1;
  }

  // By image: a frame of a program that is mapped at several places has its address as linked.
  std::uint64_t mapping_of(const recording::ImageInfo& image) {
    const auto [entry, added] = mapping_ids_.try_emplace(image.id, mapping_ids_.size() + 1);
    if (added) mappings_.push_back(&image);
    return entry->second;
  }

  void write_mappings() {
    const auto longest = ranges();
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      const recording::ImageInfo& image = *mappings_[i];
      const std::string_view name = image.path.empty() ? image.name : image.path;
      std::string bytes;
      pbf_writer mapping(bytes);
      mapping.add_uint64(tag::kMappingId, i + 1);
      if (const auto range = longest.find(image.id); range != longest.end()) {
        mapping.add_uint64(tag::kMemoryStart, range->second->start.value);
        mapping.add_uint64(tag::kMemoryLimit, range->second->end.value);
      }
      mapping.add_int64(tag::kFilename, strings_.intern(printable_line(name)));
      mapping.add_int64(tag::kBuildId, strings_.intern(hex_text(image.build_id)));
      for (const auto has :
           {tag::kHasFunctions, tag::kHasFilenames, tag::kHasLineNumbers, tag::kHasInlineFrames})
        mapping.add_bool(has, true);
      message_.add_message(tag::kMapping, bytes);
    }
  }

  // By image: the longest of its mappings.
  [[nodiscard]] std::unordered_map<std::uint32_t, const recording::Mapping*> ranges() const {
    std::unordered_map<std::uint32_t, const recording::Mapping*> longest;
    for (const auto& [id, mapping] : profile_.mappings()) {
      const recording::Mapping*& so_far = longest[mapping.image];
      if (so_far == nullptr || mapping.end - mapping.start > so_far->end - so_far->start)
        so_far = &mapping;
    }
    return longest;
  }

  Result<void> flush() {
    auto written = sink_.write(bytes_);
    bytes_.clear();
    return written;
  }

  DetailedProfile& profile_;
  const ExportOptions& options_;
  Sink& sink_;
  std::string bytes_;  // not written yet
  pbf_writer message_{bytes_};
  profile::StringTable strings_;
  PairTable location_ids_;  // of recorded frames
  PairTable function_ids_;  // of names and files
  std::uint32_t locations_written_ = 0;
  std::uint32_t functions_written_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> mapping_ids_;  // by image
  std::vector<const recording::ImageInfo*> mappings_;
  std::string sample_;                    // reused
  std::vector<std::uint64_t> locations_;  // reused
  std::vector<std::int64_t> values_;      // reused
};

}  // namespace

Result<void> write_pprof(DetailedProfile& profile, const ExportOptions& options, Sink& sink) {
  GzipSink compressed(sink);
  RINGSIDE_TRY(PprofWriter(profile, options, compressed).write());
  return compressed.finish();
}

}  // namespace ringside::exporters
