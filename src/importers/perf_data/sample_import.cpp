#include "importers/perf_data/sample_import.h"

#include <algorithm>
#include <string>
#include <utility>

#include "importers/perf_data/main_event.h"

namespace ringside::importers::perf_data {
namespace {

CpuMode mode_of(const RawRecord& record) {
  const unsigned mode = record.misc & kModeMask;
  return mode <= static_cast<unsigned>(CpuMode::kGuestUser) ? static_cast<CpuMode>(mode)
                                                            : CpuMode::kUnknown;
}

bool is_of_perf_kvm(const Features& features) {
  const std::vector<std::string>& words = features.command_line;
  return words.size() > 1 && words[1] == "kvm";
}

}  // namespace

Result<void> SampleImport::take(const RawRecord& record, std::optional<std::uint64_t> at) {
  const auto type = static_cast<RecordType>(record.type);
  switch (type) {
    case RecordType::kSample:
      return take_sample(record, at);
    case RecordType::kMmap:
    case RecordType::kMmap2:
      take_map(type, record);
      break;
    case RecordType::kComm:
      // An exec clears nothing: the thread's last frames of before it come behind it.
      if (const auto comm = read_comm(record.body)) threads_.set_name(*comm);
      break;
    case RecordType::kFork:
      if (const auto fork = read_fork(record.body)) {
        threads_.fork(*fork);
        // It may have called exec since: its maps follow.
        if ((record.misc & kMiscForkExec) == 0) spaces_.fork(fork->parent_pid, fork->pid);
      }
      break;
    case RecordType::kKsymbol:
      if (const auto symbol = read_ksymbol(record.body)) host_.add(*symbol);
      break;
    case RecordType::kCgroup:
      if (const auto cgroup = read_cgroup(record.body)) threads_.set_cgroup(*cgroup);
      break;
    case RecordType::kLost:
    case RecordType::kLostSamples:
      take_lost(type, record);
      break;
    default:
      break;
  }
  return {};
}

void SampleImport::take_map(RecordType type, const RawRecord& record) {
  const auto map = read_map(type, record.misc, record.body);
  if (!map) return;
  const CpuMode mode = mode_of(record);
  if (mode == CpuMode::kKernel || mode == CpuMode::kGuestKernel) {
    const auto time = header_.attributes.trailer_of(record.body).time;
    KernelCode& kernel = mode == CpuMode::kKernel ? host_ : guest_;
    kernel.map(*map, writer_ == nullptr ? 0 : since_start(time.value_or(0)));
    return;
  }
  if (mode == CpuMode::kGuestUser || map->size > ~map->start) return;
  const UserSpace::Range range{map->start, map->start + map->size, map->file_offset,
                               map->is_data ? 0 : images_.number_of(*map)};
  spaces_.map(map->pid, range, !map->is_data);
}

void SampleImport::take_lost(RecordType type, const RawRecord& record) {
  const auto lost = read_lost(type, record.body);
  if (!lost) return;
  const auto id = lost->id ? lost->id : header_.attributes.trailer_of(record.body).id;
  const auto event = header_.attributes.with_id(id.value_or(0));
  if (event) sources_.count_lost(*event, lost->count, type == RecordType::kLostSamples);
}

void SampleImport::add_fault(std::optional<std::uint64_t> at, std::string reason) {
  if (at)
    faults_.add(*at, std::move(reason));
  else
    faults_.add("a place that was compressed", std::move(reason));
}

Result<void> SampleImport::take_sample(const RawRecord& record, std::optional<std::uint64_t> at) {
  const auto event = header_.attributes.of_sample(record.body);
  if (!event) {
    add_fault(at, "a sample of an event that the file does not describe");
    return {};
  }
  if (!read_sample(record.body, header_.attributes.all()[*event], sample_)) {
    add_fault(at, "a sample is shorter than its event says");
    return {};
  }
  const CpuMode mode = mode_of(record);
  if (sample_.is_of_group) return add_group(mode);
  return add(*event, sample_.period, mode);
}

// A sample of a group's leader counts for each event of the group, by how far its counter went
// (tools/perf/util/session.c, deliver_sample_group).
Result<void> SampleImport::add_group(CpuMode mode) {
  for (const GroupValue& value : sample_.group) {
    const auto event = header_.attributes.with_id(value.id);
    if (!event || counters_.size() >= kMostCounters) continue;
    std::uint64_t& last = counters_[value.id];
    const std::uint64_t period = value.value - last;
    last = value.value;
    if (period != 0) RINGSIDE_TRY(add(*event, period, mode));
  }
  return {};
}

Result<void> SampleImport::add(std::size_t event, std::uint64_t period, CpuMode mode) {
  if (writer_ == nullptr) RINGSIDE_TRY(create(event));
  recording::SampleInfo info;
  RINGSIDE_ASSIGN(info.source, sources_.source_of(event));
  const std::uint64_t host_ns = since_start(sample_.time.value_or(0));
  info.time_ns = sample_.time ? host_ns : sources_.next_number(info.source);
  last_ = std::max(last_, host_ns);
  info.vcpu = sample_.cpu.value_or(kNobody) < recording::kNoVcpu.value
                  ? VcpuId{static_cast<std::uint16_t>(*sample_.cpu)}
                  : recording::kNoVcpu;
  info.level = level_of(mode);
  info.weight = period;
  if (sample_.pid != kNobody && header_.attributes.all()[event].has(sample::kTid)) {
    info.pid = sample_.pid;
    if (sample_.tid != kNobody) info.tid = sample_.tid;  // it has ended
    RINGSIDE_TRY(threads_.note(sample_.pid, sample_.tid, sample_.cgroup, host_ns, *writer_));
  }
  RINGSIDE_ASSIGN(const auto stacks, stacks_.of(sample_, header_.attributes.all()[event], mode,
                                                spaces_.of(sample_.pid)));
  RINGSIDE_TRY(writer_->add_sample(info, stacks, {}));
  sources_.count_sample(info.source);
  ++samples_;
  return {};
}

Result<void> SampleImport::create(std::size_t event) {
  const Features& features = header_.features;
  start_ = sample_.time.value_or(0);
  recording::Header header;
  header.engine = "perf-data";
  header.guest_os = "linux";
  header.command_line = features.command_line;
  header.start_monotonic_ns = start_;
  if (features.wall_ns != 0) header.start_wall_ns = features.wall_ns + start_ - features.clock_ns;
  header.arch = features.arch;
  header.vcpu_count = features.processors;
  header.host = features.host;
  const bool has_guest = guest_.is_mapped() || is_of_perf_kvm(features);
  if (has_guest)
    host_.set_name("host kernel");
  else
    header.kernel = features.release;
  if (const auto bias = (has_guest ? guest_ : host_).adopt_given(warnings_))
    target_.place_kernel(*bias);
  const std::size_t main = main_event(header_, event);
  const std::vector<recording::Source> sources = sources_.begin(main);
  header.interval_ns = interval_of(header_.attributes.all()[main]);
  RINGSIDE_ASSIGN(writer_, target_.create(std::move(header), sources));
  RINGSIDE_TRY(sources_.start(*writer_));
  host_.start(*writer_);
  guest_.start(*writer_);
  images_.start(*writer_);
  unwinding_.start(*writer_);
  stacks_.start(*writer_);
  return {};
}

Result<void> SampleImport::finish() {
  if (writer_ == nullptr) return {};
  RINGSIDE_TRY(threads_.finish(last_ + 1, *writer_));
  return sources_.add_statistics(last_);
}

}  // namespace ringside::importers::perf_data
