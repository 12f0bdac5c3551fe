#include "exporters/perf/perf_data.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include "exporters/perf/perf_features.h"
#include "exporters/perf/perf_images.h"
#include "exporters/perf/perf_record.h"
#include "exporters/perf/perf_symbol_files.h"
#include "exporters/perf/perf_threads.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace perf {
namespace {

constexpr std::string_view kMagic = "PERFILE2";
constexpr std::uint32_t kExecutable = 5;       // PROT_READ | PROT_EXEC
constexpr std::uint32_t kPrivate = 2;          // MAP_PRIVATE
constexpr std::size_t kMostChain = 8000;       // of what a record of 64 KiB holds
constexpr std::uint64_t kRoundSize = 1 << 16;  // samples

// The end of every record that is no sample.
struct SampleId {
  ThreadNumbers thread;
  std::uint64_t time = 0;
};

// The records of a profile, in the order in which they are written.
class RecordWriter final : public profile::SampleReceiver {
 public:
  RecordWriter(profile::DetailedProfile& profile, const PerfImages& images, Sink& sink)
      : profile_(profile), images_(images), comms_(profile, images), sink_(sink) {}

  Result<void> write() {
    for (const PerfImage& image : images_.images())
      if (image.is_kernel && !image.is_empty()) RINGSIDE_TRY(write_kernel_mapping(image));
    for (const ThreadComms::Comm& comm : comms_.first()) write_comm(comm.thread, comm.name, 0);
    write_user_mappings();
    RINGSIDE_TRY(result_);
    RINGSIDE_TRY(profile_.for_each(*this));
    write_lost();
    return result_;
  }

  void sample(const profile::TimedSample& sample) override {
    if (!result_ || !images_.shows(sample.group)) return;
    const profile::Owner& owner = profile_.owner_of(sample.group);
    const ThreadNumbers thread = thread_of(owner);
    if (comms_.must_tell(sample.group)) write_comm(thread, comm_of(profile_, owner), sample.time);
    write_sample(sample, owner, thread);
    first_time_ = std::min(first_time_, sample.time);
    last_time_ = std::max(last_time_, sample.time);
    // Samples of one source come nearly in order of time, those of several do not.
    if (++samples_ % kRoundSize == 0 && profile_.sources().size() == 1) {
      record_.begin(RecordType::kFinishedRound, 0);
      put();
    }
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // The lowest and the highest time of a sample.
  [[nodiscard]] std::uint64_t first_time() const { return std::min(first_time_, last_time_); }
  [[nodiscard]] std::uint64_t last_time() const { return last_time_; }

 private:
  void put() {
    const std::string_view bytes = record_.end();
    size_ += bytes.size();
    if (result_) result_ = sink_.write(bytes);
  }
  void put(const SampleId& id) {
    record_.add(id.thread.pid);
    record_.add(id.thread.tid);
    record_.add(id.time);
    record_.add(kNobody);  // the processor
    record_.add(std::uint32_t{0});
    record_.add(event_id(0));
    put();
  }

  Result<void> write_kernel_mapping(const PerfImage& image) {
    const bool is_main = image.path == "[kernel.kallsyms]";
    record_.begin(RecordType::kMmap, kKernelMode);
    record_.add(kNobody);
    record_.add(std::uint32_t{0});
    record_.add(image.start);
    record_.add(image.end - image.start);
    record_.add(is_main ? image.start : 0);
    record_.add_text(is_main ? image.path + "_text" : image.path);
    put({{kNobody, 0}, 0});
    return result_;
  }

  // Each of what any of a process's stacks goes through.
  void write_user_mappings() {
    std::set<std::pair<std::uint64_t, std::uint32_t>> written;  // of processes and images
    for (std::uint32_t group = 0; group < profile_.group_count(); ++group) {
      if (!images_.shows(group)) continue;
      ThreadNumbers process = thread_of(profile_.owner_of(group));
      if (process.pid != kNobody) process.tid = process.pid;
      const std::uint64_t key = std::uint64_t{process.pid} << 32 | process.tid;
      for (const profile::StackEntry& entry : profile_.stack_of(group)) {
        const PerfPlace& place = images_.place_of(entry);
        if (!place.is_kernel && written.insert({key, place.image}).second)
          write_user_mapping(images_.images()[place.image], process);
      }
    }
  }

  void write_user_mapping(const PerfImage& image, ThreadNumbers process) {
    record_.begin(RecordType::kMmap2, kUserMode | kMiscBuildId);
    record_.add(process.pid);
    record_.add(process.tid);
    record_.add(image.start);
    record_.add(image.end - image.start);
    record_.add(image.start - image.file_start);
    record_.add(static_cast<std::uint32_t>(image.build_id.size()));
    std::string id(reinterpret_cast<const char*>(image.build_id.data()), image.build_id.size());
    id.resize(kMostBuildId);
    record_.add_bytes(id);
    record_.add(kExecutable);
    record_.add(kPrivate);
    record_.add_text(image.path);
    put({process, 0});
  }

  void write_comm(ThreadNumbers thread, std::string_view name, std::uint64_t time) {
    constexpr std::size_t kMostName = 255;
    record_.begin(RecordType::kComm, kUserMode);
    record_.add(thread.pid);
    record_.add(thread.tid);
    record_.add_text(name.substr(0, kMostName));
    put({thread, time});
  }

  // Ticks that have no sample though they were due; perf shows their sum.
  void write_lost() {
    const profile::Profile& all = profile_.profile();
    const std::uint64_t lost = views::make_summary(all).lost.value_or(0);
    if (lost == 0 || !all.is_whole()) return;  // whose they are is not recorded
    record_.begin(RecordType::kLostSamples, 0);
    record_.add(lost);
    put({{kNobody, kNobody}, last_time_});
  }

  void write_sample(const profile::TimedSample& sample, const profile::Owner& owner,
                    ThreadNumbers thread) {
    const std::span<const profile::StackEntry> stack = profile_.stack_of(sample.group);
    make_chain(stack);
    const PerfPlace& leaf = stack.empty() ? images_.idle_place() : images_.place_of(stack.front());
    record_.begin(RecordType::kSample, leaf.is_kernel ? kKernelMode : kUserMode);
    record_.add(event_id(sample.source));
    record_.add(leaf.address);
    record_.add(thread.pid);
    record_.add(thread.tid);
    record_.add(sample.time);
    record_.add(owner.vcpu == recording::kNoVcpu ? kNobody : std::uint32_t{owner.vcpu.value});
    record_.add(std::uint32_t{0});
    const std::int64_t value = sample.values.empty() ? 0 : sample.values.front();
    record_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
    record_.add(static_cast<std::uint64_t>(chain_.size()));
    record_.add_bytes(
        {reinterpret_cast<const char*>(chain_.data()), chain_.size() * sizeof(std::uint64_t)});
    put();
  }

  // Leaf first, with a mark before the kernel's frames and one before the user's.
  void make_chain(std::span<const profile::StackEntry> stack) {
    chain_.clear();
    std::uint64_t context = 0;
    for (const profile::StackEntry& entry : stack) {
      if (chain_.size() >= kMostChain) break;
      const PerfPlace& place = images_.place_of(entry);
      const std::uint64_t here = place.is_kernel ? kContextKernel : kContextUser;
      if (here != context) chain_.push_back(here);
      context = here;
      chain_.push_back(place.address);
    }
  }

  profile::DetailedProfile& profile_;
  const PerfImages& images_;
  ThreadComms comms_;
  Sink& sink_;
  Result<void> result_;
  RecordBuilder record_;
  std::vector<std::uint64_t> chain_;  // reused
  std::uint64_t size_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t first_time_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_time_ = 0;
};

// The header of a file: where its sections are.
struct FileHeader {
  std::uint64_t attribute_size = 0;  // of all
  std::uint64_t attribute_count = 0;
  std::uint64_t attributes_at = 0;
  std::uint64_t data_at = 0;
  std::uint64_t data_size = 0;
  std::uint64_t features = 0;  // bits

  [[nodiscard]] std::string bytes() const {
    std::string out(kMagic);
    for (const std::uint64_t number :
         {std::uint64_t{kSize}, attribute_size / std::max<std::uint64_t>(attribute_count, 1),
          attributes_at, attribute_size, data_at, data_size, std::uint64_t{0}, std::uint64_t{0},
          features, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}})
      add(out, number);
    return out;
  }
  static constexpr std::size_t kSize = 104;
};

// Ids of events, attributes with the places of those, records, features.
Result<void> write_file(profile::DetailedProfile& profile, const PerfImages& images, Sink& sink) {
  const std::vector<std::string> attributes = attributes_of(profile);
  FileHeader header;
  header.attribute_count = attributes.size();
  header.attributes_at = FileHeader::kSize + attributes.size() * sizeof(std::uint64_t);
  std::string ids;
  std::string entries;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    entries += attributes[i];
    add(entries, FileHeader::kSize + ids.size());
    add(entries, sizeof(std::uint64_t));
    add(ids, event_id(i));
  }
  header.attribute_size = entries.size();
  header.data_at = header.attributes_at + entries.size();
  RINGSIDE_TRY(sink.write(header.bytes() + ids + entries));

  RecordWriter records(profile, images, sink);
  RINGSIDE_TRY(records.write());
  header.data_size = records.size();
  std::vector<Feature> features = features_of(profile, attributes);
  std::string build_ids;
  for (const PerfImage& image : images.images())
    if (!image.is_empty()) build_ids += build_id_record(image);
  features.insert(features.begin(), {FeatureId::kBuildIds, build_ids});
  std::string times;
  add(times, records.first_time());
  add(times, records.last_time());
  features.push_back({FeatureId::kSampleTime, times});
  std::string table;
  std::uint64_t at = header.data_at + header.data_size + features.size() * 16;
  for (const Feature& feature : features) {
    header.features |= std::uint64_t{1} << static_cast<unsigned>(feature.id);
    add(table, at);
    add(table, feature.bytes.size());
    at += feature.bytes.size();
  }
  RINGSIDE_TRY(sink.write(table));
  for (const Feature& feature : features) RINGSIDE_TRY(sink.write(feature.bytes));
  return sink.rewrite(0, header.bytes());
}

// The same as records, of which all that describes others comes first.
Result<void> write_pipe(profile::DetailedProfile& profile, const PerfImages& images, Sink& sink) {
  const std::vector<std::string> attributes = attributes_of(profile);
  std::string head(kMagic);
  add(head, std::uint64_t{16});
  RecordBuilder record;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    record.begin(RecordType::kHeaderAttr, 0);
    record.add_bytes(attributes[i]);
    record.add(event_id(i));
    head += record.end();
  }
  for (const Feature& feature : features_of(profile, attributes)) {
    constexpr std::size_t kMostBytes = 65000;
    if (feature.bytes.size() > kMostBytes) continue;
    record.begin(RecordType::kFeature, 0);
    record.add(static_cast<std::uint64_t>(feature.id));
    record.add_bytes(feature.bytes);
    record.add_bytes(std::string((8 - feature.bytes.size() % 8) % 8, '\0'));
    head += record.end();
  }
  // perf has given names to what it read as attributes before it reads the feature.
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    constexpr std::uint64_t kName = 2;  // PERF_EVENT_UPDATE__NAME
    record.begin(RecordType::kEventUpdate, 0);
    record.add(kName);
    record.add(event_id(i));
    record.add_text(event_name(profile, i));
    head += record.end();
  }
  for (const PerfImage& image : images.images())
    if (!image.is_empty()) head += build_id_record(image);
  RINGSIDE_TRY(sink.write(head));
  return RecordWriter(profile, images, sink).write();
}

}  // namespace
}  // namespace perf

Result<void> write_perf_data(profile::DetailedProfile& profile, const ExportOptions& options,
                             Sink& sink) {
  const perf::PerfImages images(profile, options.show_idle);
  RINGSIDE_TRY(sink.can_rewrite() ? perf::write_file(profile, images, sink)
                                  : perf::write_pipe(profile, images, sink));
  if (options.beside == nullptr) return {};
  return perf::write_symbol_files(images, profile.profile().header.arch, *options.beside);
}

}  // namespace ringside::exporters
