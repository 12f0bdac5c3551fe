#include "exporters/samples/chrome_trace.h"

#include <fmt/core.h>

#include <iterator>
#include <optional>
#include <vector>

#include "base/pair_table.h"
#include "exporters/parts/event_fields.h"
#include "exporters/parts/json_text.h"
#include "exporters/parts/samples_by_thread.h"
#include "exporters/parts/stack_functions.h"
#include "exporters/parts/thread_table.h"
#include "profile/sanitize.h"
#include "views/owner.h"

namespace ringside::exporters {
namespace {

using profile::DetailedProfile;

// Samples of one ProfileChunk.
constexpr std::size_t kChunk = 10'000;
constexpr std::string_view kIdle = "(idle)";  // as V8 calls it
constexpr std::string_view kRoot = "(root)";

// "12.345": microseconds.
void append_micros(std::uint64_t ns, std::string& out) {
  constexpr std::uint64_t kMicro = 1000;
  fmt::format_to(std::back_inserter(out), "{}.{:03}", ns / kMicro, ns % kMicro);
}
std::string micros(std::uint64_t ns) {
  std::string text;
  append_micros(ns, text);
  return text;
}

std::string thread_members(const ThreadTable::Thread& thread) {
  // Below 0: -1 stands for the vCPUs, the others for processes of which the name alone is there.
  if (thread.comm != 0)
    return fmt::format(R"("pid":{0},"tid":{0})", -1 - std::int64_t{thread.comm});
  if (!thread.pid) return fmt::format(R"("pid":-1,"tid":{})", thread.vcpu.value);
  return fmt::format(R"("pid":{},"tid":{})", *thread.pid, thread.tid);
}

// Writes the elements of the array one by one.
class TraceEvents {
 public:
  explicit TraceEvents(Sink& sink) : sink_(sink) {}
  void add(const std::string& members) {
    if (!result_) return;
    result_ = sink_.write(fmt::format("{}{{{}}}", is_first_ ? "\n" : ",\n", members));
    is_first_ = false;
  }
  [[nodiscard]] const Result<void>& result() const { return result_; }

 private:
  Sink& sink_;
  bool is_first_ = true;
  Result<void> result_;
};

// Writes events as they come, and keeps samples.
class TraceReceiver final : public profile::SampleReceiver {
 public:
  TraceReceiver(DetailedProfile& profile, const ThreadTable& table, TraceEvents& out)
      : profile_(profile), table_(table), out_(out), samples_(profile, 0) {}

  void sample(const profile::TimedSample& sample) override {
    if (sample.source == 0) samples_.sample(sample);
  }

  void event(const profile::TimedSample& sample, const profile::TimedEvent& event) override {
    if (sample.source == 0) samples_.sample(sample);
    const std::string place = thread_members(table_.threads()[table_.of(profile_, sample.group)]);
    const std::uint64_t duration = event.batch.duration(event.row);
    const std::string when =
        event.batch.durations.empty()
            ? fmt::format(R"("ph":"i","s":"t","ts":{})", micros(sample.time))
            : fmt::format(R"("ph":"X","ts":{},"dur":{})", micros(sample.time), micros(duration));
    out_.add(fmt::format(R"({},{},"cat":{},"name":{},"args":{{{}}})", when, place,
                         json_string(profile_.sources()[sample.source].source.name),
                         json_string(event.type.name), event_fields(profile_, event)));
  }

  [[nodiscard]] SamplesByThread& samples() { return samples_; }

 private:
  DetailedProfile& profile_;
  const ThreadTable& table_;
  TraceEvents& out_;
  SamplesByThread samples_;
};

// The samples of one thread: a tree of calls, and its node for each sample.
class ThreadWriter {
 public:
  ThreadWriter(DetailedProfile& profile, const ExportOptions& options, TraceEvents& out)
      : profile_(profile), options_(options), out_(out) {}

  void write(const SamplesByThread& samples, const ThreadTable& table, std::uint32_t thread) {
    nodes_ = PairTable();
    place_ = thread_members(table.threads()[thread]);
    id_ = fmt::format("0x{:x}", thread + 1);
    new_nodes_.clear();
    add_node(kRoot, "", 0, 1);
    std::uint64_t first = 0;
    std::optional<std::uint64_t> last;
    for (std::size_t i = 0; i < samples.count_of(thread); ++i) {
      const SamplesByThread::Row row = samples.row(thread, i);
      if (!views::is_shown(profile_.owner_of(row.group), options_.show_idle)) continue;
      if (!last) write_start(first = row.time);
      fmt::format_to(std::back_inserter(ids_), "{}{}", ids_.empty() ? "" : ",", node_of(row.group));
      if (!deltas_.empty()) deltas_ += ',';
      append_micros(row.time - last.value_or(row.time), deltas_);
      last = row.time;
      if (++count_ == kChunk) write_chunk(row.time);
    }
    if (count_ > 0) write_chunk(*last);
    if (last) write_task(first, *last);
  }

 private:
  void write_start(std::uint64_t time) {
    out_.add(fmt::format(
        R"("ph":"P","cat":"disabled-by-default-v8.cpu_profiler","name":"Profile","id":"{}",{},)"
        R"("ts":{},"args":{{"data":{{"startTime":{}}}}})",
        id_, place_, micros(time), micros(time)));
  }

  // The panel shows no more than the time that events without samples take.
  void write_task(std::uint64_t first, std::uint64_t last) {
    out_.add(
        fmt::format(R"("ph":"X","cat":"disabled-by-default-devtools.timeline","name":"RunTask",{},)"
                    R"("ts":{},"dur":{},"args":{{}})",
                    place_, micros(first), micros(last - first)));
  }

  void write_chunk(std::uint64_t time) {
    out_.add(fmt::format(
        R"("ph":"P","cat":"disabled-by-default-v8.cpu_profiler","name":"ProfileChunk","id":"{}",)"
        R"({},"ts":{},"args":{{"data":{{"cpuProfile":{{"nodes":[{}],"samples":[{}]}},)"
        R"("timeDeltas":[{}]}}}})",
        id_, place_, micros(time), new_nodes_, ids_, deltas_));
    new_nodes_.clear();
    ids_.clear();
    deltas_.clear();
    count_ = 0;
  }

  // A group is of one thread: its stack is walked once.
  std::uint32_t node_of(std::uint32_t group) {
    if (group >= node_of_group_.size()) node_of_group_.resize(profile_.group_count());
    std::uint32_t& node = node_of_group_[group];
    if (node == 0) node = find_node(group);
    return node;
  }

  // Ids count from 1, the root's.
  std::uint32_t find_node(std::uint32_t group) {
    const profile::Profile& all = profile_.profile();
    functions_.clear();
    for_each_function(profile_, group, [&](const profile::DetailedFrame& frame, std::size_t i) {
      functions_.push_back(all.frames[frame.functions[i]].function);
    });
    std::uint32_t node = 1;
    if (functions_.empty()) return child(node, ~profile::FunctionId{0}, kIdle, "");
    for (auto id = functions_.rbegin(); id != functions_.rend(); ++id) {
      const profile::Function& function = all.functions[*id];
      const profile::StringId place = function.file != 0 ? function.file : function.image;
      node = child(node, *id, all.strings[function.name], all.strings[place]);
    }
    return node;
  }

  std::uint32_t child(std::uint32_t parent, profile::FunctionId function, std::string_view name,
                      std::string_view url) {
    const std::size_t known = nodes_.size();
    const std::uint32_t id = nodes_.intern(parent, function) + 2;
    if (nodes_.size() != known) add_node(name, url, parent, id);
    return id;
  }

  void add_node(std::string_view name, std::string_view url, std::uint32_t parent,
                std::uint32_t id) {
    new_nodes_ += fmt::format(
        R"({}{{"id":{},{}"callFrame":{{"functionName":{},"scriptId":0,"url":{},"lineNumber":-1,)"
        R"("columnNumber":-1}}}})",
        new_nodes_.empty() ? "" : ",", id,
        parent == 0 ? "" : fmt::format(R"("parent":{},)", parent), json_quoted(name),
        json_quoted(url));
  }

  DetailedProfile& profile_;
  const ExportOptions& options_;
  TraceEvents& out_;
  PairTable nodes_;                           // of a parent and a function
  std::vector<std::uint32_t> node_of_group_;  // 0: not found yet
  std::string place_;
  std::string id_;
  std::string new_nodes_;
  std::string ids_;
  std::string deltas_;
  std::size_t count_ = 0;
  std::vector<profile::FunctionId> functions_;  // reused
};

// A process is called after its main thread, which comes first.
void add_names(const ThreadTable& table, TraceEvents& out) {
  const ThreadTable::Thread* last = nullptr;
  for (const ThreadTable::Thread& thread : table.threads()) {
    const std::string place = thread_members(thread);
    out.add(fmt::format(R"("ph":"M","name":"thread_name",{},"args":{{"name":{}}})", place,
                        json_quoted(thread.name)));
    if (last == nullptr || last->pid != thread.pid || last->comm != thread.comm)
      out.add(fmt::format(R"("ph":"M","name":"process_name",{},"args":{{"name":{}}})", place,
                          json_quoted(thread.pid || thread.comm != 0 ? thread.name : "vCPUs")));
    last = &thread;
  }
}

}  // namespace

Result<void> write_chrome_trace(DetailedProfile& profile, const ExportOptions& options,
                                Sink& sink) {
  RINGSIDE_TRY(sink.write(fmt::format(
      R"({{"otherData":{{"kernel":{},"exporter":{}}},"displayTimeUnit":"ns","traceEvents":[)",
      json_string(profile.profile().header.kernel),
      json_string("ringside " + profile.profile().header.ringside_version))));
  const ThreadTable table(profile);
  TraceEvents out(sink);
  add_names(table, out);
  TraceReceiver receiver(profile, table, out);
  RINGSIDE_TRY(profile.for_each(receiver));
  receiver.samples().sort(table);
  ThreadWriter writer(profile, options, out);
  for (std::uint32_t thread = 0; thread < table.threads().size(); ++thread)
    writer.write(receiver.samples(), table, thread);
  RINGSIDE_TRY(out.result());
  return sink.write("\n]}\n");
}

}  // namespace ringside::exporters
