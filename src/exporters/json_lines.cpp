#include "exporters/json_lines.h"

#include <limits>
#include <map>
#include <vector>

#include "base/byte_reader.h"
#include "base/text.h"
#include "exporters/json_lines_frames.h"
#include "exporters/json_lines_head.h"
#include "exporters/parts/json_text.h"
#include "formats/json_lines.h"
#include "profile/kernel_mappings.h"
#include "profile/sanitize.h"
#include "profile/thread_names.h"
#include "recording/sample_visitor.h"

namespace ringside::exporters {
namespace {

// In the value's unit.
std::int64_t scaled(std::int64_t value, const recording::ValueType& type) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) * type.scale);
}

// All that lines name or begin with. Frames are named where they stand, and some of their names
// come later.
class Names final : public recording::Visitor {
 public:
  explicit Names(profile::FrameNamer& namer) : namer_(namer) {}
  void blob(const recording::Blob& value) override { namer_.blob(value); }
  void function(const recording::ImageFunction& value) override { namer_.function(value); }
  // Some frames were sampled before the image that lies there was found.
  void image(const recording::ImageInfo& value) override {
    images[value.id] = value;
    namer_.image(value);
  }
  void mapping(const recording::Mapping& value) override {
    mappings[value.id] = value;
    kernels.add(value);
  }
  void epoch(const recording::GuestEpoch&) override { kernels.begin_epoch(); }
  void clock(const recording::Clock& value) override { clocks[value.id] = value; }
  void source(const recording::Source& value) override { sources[value.id] = value; }
  void event_type(const recording::EventType& value) override { event_types[value.id] = value; }

  [[nodiscard]] Result<void> write(Sink& sink) {
    for (const auto& [id, source] : sources) shared.sources.add(source.name);
    for (const auto& [id, type] : event_types) shared.event_types.add(type.name);
    for (const auto& [id, image] : images) shared.images.add(image.name);
    for (const auto& [id, source] : sources)
      RINGSIDE_TRY(sink.write(source_line(source, clocks, shared) + "\n"));
    for (const auto& [id, type] : event_types) {
      const auto source = sources.find(type.source);
      if (source != sources.end())
        RINGSIDE_TRY(sink.write(event_type_line(type, source->second, shared) + "\n"));
    }
    return {};
  }

  std::map<std::uint32_t, recording::Clock> clocks;
  std::map<std::uint32_t, recording::Source> sources;
  std::map<std::uint32_t, recording::EventType> event_types;
  std::map<std::uint32_t, recording::ImageInfo> images;
  std::map<std::uint32_t, recording::Mapping> mappings;
  profile::KernelMappings kernels;
  LineNames shared;

 private:
  profile::FrameNamer& namer_;
};

class Lines final : public recording::SampleVisitor {
 public:
  Lines(profile::FrameNamer& namer, const Names& names, Sink& sink)
      : namer_(namer), named_(names), sink_(sink) {}

  void image(const recording::ImageInfo& value) override {
    write(image_line(value, named_.shared));
  }
  void frame(std::uint32_t, const recording::RecordedFrame& value) override {
    recording::RecordedFrame frame = value;
    named_.kernels.place(frame, epoch_);
    add(frame);
  }
  void stack_node(std::uint32_t, const recording::StackNode& value) override { frames_.add(value); }
  void epoch(const recording::GuestEpoch& value) override {
    ++epoch_;
    write(fmt::format(
        R"({{"epoch":{},"time_ns":{}{}}})", json_string(value.reason), value.time_ns,
        value.load_bias == 0 ? "" : fmt::format(",\"load_bias\":\"{:#x}\"", value.load_bias)));
  }

  void text(std::uint32_t, std::string_view value) override { texts_.emplace_back(value); }

  void sample(const recording::Sample& value) override {
    const recording::SampleInfo& info = value.info;
    const recording::Source& source = source_of(info.source);
    write(fmt::format(
        R"({{"time_ns":{},{}"level":"{}","disposition":{},{}{}"weight":{},"unit":{},{}"stacks":[{}]}})",
        info.time_ns,
        info.vcpu == recording::kNoVcpu ? "" : fmt::format(R"("vcpu":{},)", info.vcpu.value),
        level_of(info.level), json_string(recording::name_of(info.disposition)),
        info.pause_ns == 0 ? "" : fmt::format(R"("pause_ns":{},)", info.pause_ns),
        owner(info, source), scaled(static_cast<std::int64_t>(info.weight), source.values.front()),
        json_string(recording::name_of(source.values.front().unit)), of_source(value, source),
        stacks(value)));
  }

  void counter_set(const recording::CounterSet& value) override { counter_sets_[value.id] = value; }
  void mark(const recording::Mark& value) override { marks_[value.id] = value; }
  void snapshot(const recording::Snapshot& value) override {
    write(fmt::format(
        R"({{"snapshot":{},"time":{},{}"reason":{}}})", value.id, value.time,
        value.clock == recording::kHostClock ? "" : fmt::format(R"("clock":{},)", value.clock),
        json_string(value.reason)));
  }
  void events(const recording::EventBatch& batch) override {
    recording::Sample sample;
    for (std::size_t row = 0; row < batch.size(); ++row) {
      sample.info.time_ns = batch.times[row];
      expand(batch.contexts[row], sample);
      write(event(batch, row, sample));
    }
  }
  void counters(const recording::CounterBatch& batch) override {
    for (std::size_t row = 0; row < batch.size(); ++row) write(counter(batch, row));
  }

  void thread_name(const recording::ThreadName& value) override { names_.add(value); }

  // The last ones count.
  void statistics(const recording::Statistics& value) override {
    statistics_[value.source] = value;
  }

  void left_out(std::string_view text) override { left_out_.emplace_back(text); }

  [[nodiscard]] Result<void> finish() {
    for (const auto& [source, statistics] : statistics_) write(line_of(statistics));
    return result_;
  }
  [[nodiscard]] std::vector<std::string> left_out() && { return std::move(left_out_); }

 private:
  [[nodiscard]] const recording::Source& source_of(std::uint32_t id) const {
    static const recording::Source kUnknown;
    const auto source = named_.sources.find(id);
    return source == named_.sources.end() ? kUnknown : source->second;
  }

  [[nodiscard]] static std::string_view level_of(PrivilegeLevel level) {
    using formats::json_lines::kLevels;
    static_assert(kLevels.size() == kPrivilegeLevelCount);
    return kLevels[static_cast<std::size_t>(level)];
  }

  [[nodiscard]] std::string line_of(const recording::Statistics& value) const {
    const recording::Source& source = source_of(value.source);
    std::string counters;
    for (const auto& [name, count] : value.counters)
      counters += fmt::format("{}{}:{}", counters.empty() ? "" : ",", json_string(name), count);
    return fmt::format(
        R"({{"statistics":{}{},"due":{},"lost":{},"late":{},"duration_ns":{},"counters":{{{}}}}})",
        json_string(source.name),
        named_.shared.sources.number("source_id", source.name, value.source), value.due, value.lost,
        value.late, value.duration_ns, counters);
  }

  // The members that say whose time a sample was; those that are not known are left out.
  [[nodiscard]] std::string owner(const recording::SampleInfo& info,
                                  const recording::Source& source) const {
    std::string members;
    const profile::ThreadNames::Called called = called_at(info, source);
    if (info.pid && !called.of_many) members += fmt::format(R"("pid":{},)", *info.pid);
    if (info.tid && !called.of_many) members += fmt::format(R"("tid":{},)", *info.tid);
    if (info.address_space != 0)
      members += fmt::format(R"("address_space":"{:#x}",)", info.address_space);
    if (info.thread_start_ns != 0)
      members += fmt::format(R"("thread_start_ns":{},)", info.thread_start_ns);
    if (info.state != recording::ThreadState::kUnknown)
      members += fmt::format(R"("state":"{}",)", recording::name_of(info.state));
    if (info.waits_for != 0)
      members += fmt::format(R"("waits_for":{},)", json_string(texts_[info.waits_for]));
    if (called.comm != 0)
      members += fmt::format(R"("comm":{},)", json_string(strings_[called.comm]));
    if (called.cgroup != 0)
      members += fmt::format(R"("cgroup":{},)", json_string(strings_[called.cgroup]));
    return members;
  }

  // By another clock than that of the names it is not known when it was: the last name counts.
  [[nodiscard]] profile::ThreadNames::Called called_at(const recording::SampleInfo& info,
                                                       const recording::Source& source) const {
    if (!info.pid) return {};
    const std::uint64_t time_ns = source.clock == recording::kHostClock
                                      ? info.time_ns
                                      : std::numeric_limits<std::uint64_t>::max();
    return names_.at(time_ns, *info.pid, info.tid);
  }

  // The members of samples that are not of the recording's first source, or have several values.
  [[nodiscard]] std::string of_source(const recording::Sample& sample,
                                      const recording::Source& source) const {
    std::string members;
    if (source.id != recording::kCpuSource)
      members += fmt::format(R"("source":{}{},)", json_string(source.name),
                             named_.shared.sources.number("source_id", source.name, source.id));
    if (source.values.size() < 2) return members;
    members += R"("values":{)";
    for (std::size_t i = 0; i < source.values.size(); ++i) {
      const bool is_there = i == 0 || i <= sample.more_values.size();
      const std::int64_t value = i == 0 ? static_cast<std::int64_t>(sample.info.weight)
                                        : (is_there ? sample.more_values[i - 1] : std::int64_t{1});
      members += fmt::format("{}{}:{}", i == 0 ? "" : ",", json_string(source.values[i].name),
                             scaled(value, source.values[i]));
    }
    return members + "},";
  }

  void add(const recording::RecordedFrame& frame) {
    const auto image = named_.images.find(frame.image);
    const auto mapping = named_.mappings.find(frame.mapping);
    const recording::ImageInfo* const of = image == named_.images.end() ? nullptr : &image->second;
    profile::NamedFrame named;
    if (frame.function != 0) {
      named.functions = {namer_.shown(texts_[frame.function])};
      named.lines = {{texts_[frame.file], frame.line}};
    } else {
      namer_.name({frame, of, mapping != named_.mappings.end() ? &mapping->second : nullptr},
                  named);
    }
    frames_.add(frame, of == nullptr ? "" : image_member(*of), named);
  }

  [[nodiscard]] std::string image_member(const recording::ImageInfo& image) const {
    return fmt::format(R"("image":{}{},)", json_string(image.name),
                       named_.shared.images.number("image_id", image.name, image.id));
  }

  std::string stacks(const recording::Sample& sample) {
    std::string text;
    for (const recording::StackRef& ref : sample.stacks)
      text += (text.empty() ? "" : ",") + frames_.stack(ref);
    return text;
  }

  std::string event(const recording::EventBatch& batch, std::size_t row,
                    const recording::Sample& sample) {
    const recording::EventType& type = named_.event_types.at(batch.type);
    std::string members = owner(sample.info, source_of(type.source));
    if (sample.info.vcpu != recording::kNoVcpu)
      members += fmt::format(R"("vcpu":{},)", sample.info.vcpu.value);
    if (batch.snapshot != 0) members += fmt::format(R"("snapshot":{},)", batch.snapshot);
    if (!batch.durations.empty()) members += fmt::format(R"("duration":{},)", batch.durations[row]);
    if (!batch.keys.empty()) members += fmt::format(R"("key":{},)", batch.keys[row]);
    std::string fields;
    for (std::size_t i = 0; i < type.fields.size(); ++i)
      fields += fmt::format("{}{}:{}", i == 0 ? "" : ",", json_string(type.fields[i].name),
                            field(type.fields[i].type, batch.fields[i], row));
    return fmt::format(R"({{"event":{}{},"time":{},{}"fields":{{{}}},"stacks":[{}]}})",
                       json_string(type.name),
                       named_.shared.event_types.number("type_id", type.name, type.id),
                       batch.times[row], members, fields, stacks(sample));
  }

  std::string field(recording::FieldType type, const recording::EventColumn& column,
                    std::size_t row) {
    using recording::FieldType;
    if (type == FieldType::kBytes) return json_string(hex_text(as_bytes(column.bytes_at(row))));
    const std::int64_t number = column.number(row);
    const auto id = static_cast<std::size_t>(number);
    switch (type) {
      case FieldType::kAddress:
        return fmt::format(R"("{:#x}")", static_cast<std::uint64_t>(number));
      case FieldType::kText:
        return json_string(texts_[id]);
      case FieldType::kSymbol:
        return frames_.frame(id);
      default:
        return fmt::format("{}", number);
    }
  }

  std::string counter(const recording::CounterBatch& batch, std::size_t row) {
    const recording::CounterSet& set = counter_sets_[batch.set];
    const recording::Mark& mark = marks_[batch.mark];
    std::string members;
    if (!mark.name.empty()) members = fmt::format(R"("name":{},)", json_string(mark.name));
    std::string key;
    for (std::size_t i = 0; i < set.key.size(); ++i)
      key += fmt::format("{}{}:{}", i == 0 ? "" : ",", json_string(set.key[i].name),
                         key_part(set.key[i].kind, batch.key(i, row)));
    std::string values;
    const recording::Source& source = source_of(set.source);
    for (std::size_t i = 0; i < source.values.size(); ++i)
      values += fmt::format("{}{}:{}", i == 0 ? "" : ",", json_string(source.values[i].name),
                            scaled(batch.value(i, row), source.values[i]));
    return fmt::format(
        R"({{"counter":{},"mark":"{}",{}"time_ns":{},"key":{{{}}},"values":{{{}}}}})",
        json_string(set.name), recording::name_of(mark.kind), members, mark.time_ns, key, values);
  }

  std::string key_part(recording::KeyKind kind, std::uint64_t value) {
    using recording::KeyKind;
    switch (kind) {
      case KeyKind::kImage: {
        const auto image = named_.images.find(static_cast<std::uint32_t>(value));
        return json_string(image == named_.images.end() ? std::string_view() : image->second.name);
      }
      case KeyKind::kPhysicalPage:
      case KeyKind::kOffset:
        return fmt::format(R"("{:#x}")", value);
      case KeyKind::kThread:
        return fmt::format("{}", thread_of(static_cast<std::uint32_t>(value)).tid.value_or(0));
      default:
        return fmt::format("{}", value);
    }
  }

  void write(const std::string& line) {
    if (result_) result_ = sink_.write(line + "\n");
  }

  profile::FrameNamer& namer_;
  const Names& named_;
  Sink& sink_;
  Result<void> result_;
  std::vector<std::string> left_out_;
  profile::StringTable strings_;
  profile::ThreadNames names_{strings_};
  std::map<std::uint32_t, recording::Statistics> statistics_;  // by source
  std::map<std::uint32_t, recording::CounterSet> counter_sets_;
  std::map<std::uint32_t, recording::Mark> marks_;
  std::vector<std::string> texts_{1};  // by id
  JsonFrames frames_;
  std::size_t epoch_ = 0;
};

}  // namespace

Result<std::vector<std::string>> write_json_lines(recording::Reader& reader,
                                                  profile::FrameNamer& namer, Sink& sink) {
  RINGSIDE_TRY(sink.write(header_line(reader.header()) + "\n"));
  Names names(namer);
  RINGSIDE_TRY(reader.for_each(names));
  RINGSIDE_TRY(names.write(sink));
  Lines lines(namer, names, sink);
  RINGSIDE_TRY(reader.for_each(lines));
  RINGSIDE_TRY(lines.finish());
  return std::move(lines).left_out();
}

}  // namespace ringside::exporters
