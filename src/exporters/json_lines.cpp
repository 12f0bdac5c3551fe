#include "exporters/json_lines.h"

#include <limits>
#include <map>
#include <vector>

#include "arch/arch_info.h"
#include "exporters/parts/json_text.h"
#include "profile/kernel_mappings.h"
#include "profile/sanitize.h"
#include "profile/thread_names.h"
#include "recording/sample_visitor.h"
#include "views/owner.h"

namespace ringside::exporters {
namespace {

const char* text_of(FrameKind kind) {
  constexpr const char* kNames[] = {"kernel", "user", "interrupt", "firmware", "guest", "code"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(kLastFrameKind) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

// In the value's unit.
std::int64_t scaled(std::int64_t value, const recording::ValueType& type) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) * type.scale);
}

// Frames are named where they stand, and some of their names come later.
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

  std::map<std::uint32_t, recording::ImageInfo> images;
  std::map<std::uint32_t, recording::Mapping> mappings;
  profile::KernelMappings kernels;

 private:
  profile::FrameNamer& namer_;
};

class Lines final : public recording::SampleVisitor {
 public:
  Lines(profile::FrameNamer& namer, const Names& names, Sink& sink)
      : namer_(namer), named_(names), sink_(sink) {}

  void image(const recording::ImageInfo& value) override {
    write(fmt::format(R"({{"image":{},"path":{},"load_bias":"{:#x}"}})", json_string(value.name),
                      json_string(value.path), value.load_bias));
  }
  void frame(std::uint32_t, const recording::RecordedFrame& value) override {
    recording::RecordedFrame frame = value;
    named_.kernels.place(frame, epoch_);
    frames_.push_back(described(frame));
  }
  void stack_node(std::uint32_t, const recording::StackNode& value) override {
    nodes_.push_back(value);
  }
  void epoch(const recording::GuestEpoch& value) override {
    ++epoch_;
    write(fmt::format(R"({{"epoch":{},"time_ns":{}}})", json_string(value.reason), value.time_ns));
  }

  void source(const recording::Source& value) override { sources_[value.id] = value; }
  void text(std::uint32_t, std::string_view value) override { texts_.emplace_back(value); }

  void sample(const recording::Sample& value) override {
    const recording::SampleInfo& info = value.info;
    const recording::Source& source = sources_[info.source];
    write(fmt::format(
        R"({{"time_ns":{},{}"level":"{}","disposition":{},{}"weight":{},"unit":{},{}"stacks":[{}]}})",
        info.time_ns,
        info.vcpu == recording::kNoVcpu ? "" : fmt::format(R"("vcpu":{},)", info.vcpu.value),
        views::level_name(info.level), json_string(recording::name_of(info.disposition)),
        owner(info, source), scaled(static_cast<std::int64_t>(info.weight), source.values.front()),
        json_string(recording::name_of(source.values.front().unit)), of_source(value, source),
        stacks(value)));
  }

  void event_type(const recording::EventType& value) override { event_types_[value.id] = value; }
  void counter_set(const recording::CounterSet& value) override { counter_sets_[value.id] = value; }
  void mark(const recording::Mark& value) override { marks_[value.id] = value; }
  void snapshot(const recording::Snapshot& value) override {
    write(fmt::format(R"({{"snapshot":{},"time":{},"reason":{}}})", value.id, value.time,
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

  void statistics(const recording::Statistics& value) override {
    std::string counters;
    for (const auto& [name, count] : value.counters)
      counters += fmt::format("{}{}:{}", counters.empty() ? "" : ",", json_string(name), count);
    write(fmt::format(
        R"({{"statistics":{},"due":{},"lost":{},"late":{},"duration_ns":{},"counters":{{{}}}}})",
        json_string(sources_[value.source].name), value.due, value.lost, value.late,
        value.duration_ns, counters));
  }

  void left_out(std::string_view text) override { left_out_.emplace_back(text); }

  [[nodiscard]] const Result<void>& result() const { return result_; }
  [[nodiscard]] std::vector<std::string> left_out() && { return std::move(left_out_); }

 private:
  // The members that say whose time a sample was; those that are not known are left out.
  [[nodiscard]] std::string owner(const recording::SampleInfo& info,
                                  const recording::Source& source) const {
    std::string members;
    const profile::ThreadNames::Called called = called_at(info, source);
    if (info.pid && !called.of_many) members += fmt::format(R"("pid":{},)", *info.pid);
    if (info.tid && !called.of_many) members += fmt::format(R"("tid":{},)", *info.tid);
    if (info.address_space != 0)
      members += fmt::format(R"("address_space":"{:#x}",)", info.address_space);
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
  [[nodiscard]] static std::string of_source(const recording::Sample& sample,
                                             const recording::Source& source) {
    std::string members;
    if (source.id != recording::kCpuSource)
      members += fmt::format(R"("source":{},)", json_string(source.name));
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

  std::string described(const recording::RecordedFrame& frame) {
    const auto image = named_.images.find(frame.image);
    const auto mapping = named_.mappings.find(frame.mapping);
    profile::NamedFrame named;
    if (frame.function != 0) {
      named.functions = {namer_.shown(texts_[frame.function])};
      named.lines = {{texts_[frame.file], frame.line}};
    } else {
      namer_.name({frame, image != named_.images.end() ? &image->second : nullptr,
                   mapping != named_.mappings.end() ? &mapping->second : nullptr},
                  named);
    }
    std::string functions;
    for (const std::string& function : named.functions)
      functions += (functions.empty() ? "" : ",") + json_string(function);
    std::string lines;
    for (const profile::SourceLine& line : named.lines)
      lines += (lines.empty() ? ",\"lines\":[" : ",") +
               json_string(line.line == 0 ? "" : fmt::format("{}:{}", line.file, line.line));
    if (!lines.empty()) lines += "]";
    return fmt::format(
        R"({{"address":"{}","exact":{},"kind":"{}",{}"rule":"{}","functions":[{}]{}}})",
        frame.address, frame.exact, text_of(frame.kind),
        image == named_.images.end()
            ? ""
            : fmt::format(R"("image":{},)", json_string(image->second.name)),
        name_of(frame.source), functions, lines);
  }

  std::string stacks(const recording::Sample& sample) {
    std::string text;
    for (const recording::StackRef& ref : sample.stacks)
      text += (text.empty() ? "" : ",") + stack(ref);
    return text;
  }

  std::string event(const recording::EventBatch& batch, std::size_t row,
                    const recording::Sample& sample) {
    const recording::EventType& type = event_types_[batch.type];
    std::string members = owner(sample.info, sources_[type.source]);
    if (sample.info.vcpu != recording::kNoVcpu)
      members += fmt::format(R"("vcpu":{},)", sample.info.vcpu.value);
    if (batch.snapshot != 0) members += fmt::format(R"("snapshot":{},)", batch.snapshot);
    if (!batch.durations.empty()) members += fmt::format(R"("duration":{},)", batch.durations[row]);
    if (!batch.keys.empty()) members += fmt::format(R"("key":{},)", batch.keys[row]);
    std::string fields;
    for (std::size_t i = 0; i < type.fields.size(); ++i)
      fields += fmt::format("{}{}:{}", i == 0 ? "" : ",", json_string(type.fields[i].name),
                            field(type.fields[i].type, batch.fields[i], row));
    return fmt::format(R"({{"event":{},"time":{},{}"fields":{{{}}},"stacks":[{}]}})",
                       json_string(type.name), batch.times[row], members, fields, stacks(sample));
  }

  std::string field(recording::FieldType type, const recording::EventColumn& column,
                    std::size_t row) {
    using recording::FieldType;
    if (type == FieldType::kBytes) {
      std::string digits;
      for (const char byte : column.bytes_at(row))
        digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return json_string(digits);
    }
    const std::int64_t number = column.number(row);
    const auto id = static_cast<std::size_t>(number);
    switch (type) {
      case FieldType::kAddress:
        return fmt::format(R"("{:#x}")", static_cast<std::uint64_t>(number));
      case FieldType::kText:
        return json_string(texts_[id]);
      case FieldType::kSymbol:
        return frames_[id];
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
    const recording::Source& source = sources_[set.source];
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

  std::string stack(const recording::StackRef& ref) {
    std::string frames;
    if (ref.node < nodes_.size())  // kLostStack is not
      for (std::uint32_t id = ref.node; id != 0; id = nodes_[id].parent)
        frames += (frames.empty() ? "" : ",") + frames_[nodes_[id].frame];
    const std::string role = ref.role == recording::StackRole::kOwn
                                 ? ""
                                 : fmt::format(R"("role":"{}",)", recording::name_of(ref.role));
    return fmt::format(R"({{{}"stop":"{}","stopped_at":"{}","frames":[{}]}})", role,
                       ref.node == recording::kLostStack ? "lost" : name_of(ref.stop),
                       ref.stopped_at, frames);
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
  std::map<std::uint32_t, recording::Source> sources_;
  std::map<std::uint32_t, recording::EventType> event_types_;
  std::map<std::uint32_t, recording::CounterSet> counter_sets_;
  std::map<std::uint32_t, recording::Mark> marks_;
  std::vector<std::string> texts_{1};  // by id
  // By id; the entry 0 stands for none.
  std::vector<std::string> frames_{"null"};
  std::vector<recording::StackNode> nodes_{1};
  std::size_t epoch_ = 0;
};

}  // namespace

Result<std::vector<std::string>> write_json_lines(recording::Reader& reader,
                                                  profile::FrameNamer& namer, Sink& sink) {
  const recording::Header& header = reader.header();
  RINGSIDE_TRY(sink.write(fmt::format(
      R"({{"arch":"{}","guest_os":{},"kernel":{},"engine":{},"interval_ns":{},"vcpus":{}}})"
      "\n",
      arch::name_of(header.arch), json_string(header.guest_os), json_string(header.kernel),
      json_string(header.engine), header.interval_ns, header.vcpu_count)));
  Names names(namer);
  RINGSIDE_TRY(reader.for_each(names));
  Lines lines(namer, names, sink);
  RINGSIDE_TRY(reader.for_each(lines));
  RINGSIDE_TRY(lines.result());
  return std::move(lines).left_out();
}

}  // namespace ringside::exporters
