#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "recording/sample_visitor.h"
#include "recording/writer.h"

// For tests: a private folder, a recording in a few lines, and a visitor that keeps everything.
namespace ringside::recording::testing {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "ringside-test.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline Stack make_stack(std::vector<std::uint64_t> leaf_first,
                        StopReason stop = StopReason::kEndOfStack,
                        FrameKind kind = FrameKind::kKernel) {
  Stack stack;
  stack.stop = stop;
  for (const std::uint64_t address : leaf_first) {
    const bool leaf = stack.frames.empty();
    stack.frames.push_back(
        {{address}, leaf, leaf ? FrameSource::kRegisters : FrameSource::kCfi, kind});
  }
  return stack;
}

inline SampleInfo sampled(std::uint64_t time_ns, std::uint16_t vcpu = 0, std::uint64_t weight = 1) {
  SampleInfo info;
  info.time_ns = time_ns;
  info.vcpu = {vcpu};
  info.level = PrivilegeLevel::kKernel;
  info.pause_ns = 100;
  info.weight = weight;
  return info;
}

inline SampleInfo with(SampleInfo info, wire::Disposition disposition) {
  info.disposition = disposition;
  return info;
}

struct Collector : SampleVisitor {
  void image(const ImageInfo& value) override { images.push_back(value); }
  void mapping(const Mapping& value) override { mappings.push_back(value); }
  void function(const ImageFunction& value) override { functions.push_back(value); }
  void frame(std::uint32_t id, const RecordedFrame& value) override {
    EXPECT_EQ(id, frames.size());
    frames.push_back(value);
  }
  void stack_node(std::uint32_t id, const StackNode& value) override {
    EXPECT_EQ(id, nodes.size());
    EXPECT_LT(value.parent, id);
    EXPECT_LT(value.frame, frames.size());
    nodes.push_back(value);
  }
  void clock(const Clock& value) override { clocks.push_back(value); }
  void clock_tie(const ClockTie& value) override { clock_ties.push_back(value); }
  void source(const Source& value) override { sources.push_back(value); }
  void text(std::uint32_t id, std::string_view value) override {
    EXPECT_EQ(id, texts.size());
    texts.emplace_back(value);
  }
  void event_type(const EventType& value) override { event_types.push_back(value); }
  void events(const EventBatch& value) override { event_batches.push_back(value); }
  void snapshot(const Snapshot& value) override { snapshots.push_back(value); }
  void counter_set(const CounterSet& value) override { counter_sets.push_back(value); }
  void mark(const Mark& value) override { marks.push_back(value); }
  void counters(const CounterBatch& value) override { counter_batches.push_back(value); }
  void sample(const Sample& value) override {
    for (const StackRef& ref : value.stacks)
      EXPECT_TRUE(ref.node == kLostStack || ref.node < nodes.size());
    samples.push_back(value);
  }
  void capture(const wire::Capture& value) override { captures.push_back(value); }
  void epoch(const GuestEpoch& value) override { epochs.push_back(value); }
  void thread_name(const ThreadName& value) override { thread_names.push_back(value); }
  void blob(const Blob& value) override {
    blobs.emplace_back(value.kind, std::string(reinterpret_cast<const char*>(value.content.data()),
                                               value.content.size()));
  }
  void warning(std::string_view text) override { warnings.emplace_back(text); }
  void left_out(std::string_view text) override { left.emplace_back(text); }
  void statistics(const Statistics& value) override { statistics_seen.push_back(value); }

  [[nodiscard]] std::vector<std::uint64_t> addresses(const StackRef& ref) const {
    std::vector<std::uint64_t> result;
    for (std::uint32_t id = ref.node; id != 0; id = nodes[id].parent)
      result.push_back(frames[nodes[id].frame].address.value);
    return result;
  }

  std::vector<ImageInfo> images;
  std::vector<Mapping> mappings;
  std::vector<RecordedFrame> frames{1};
  std::vector<StackNode> nodes{1};
  std::vector<Clock> clocks;
  std::vector<ClockTie> clock_ties;
  std::vector<Source> sources;
  std::vector<std::string> texts{1};
  std::vector<EventType> event_types;
  std::vector<EventBatch> event_batches;
  std::vector<Snapshot> snapshots;
  std::vector<CounterSet> counter_sets;
  std::vector<Mark> marks;
  std::vector<ImageFunction> functions;
  std::vector<CounterBatch> counter_batches;
  std::vector<Sample> samples;
  std::vector<wire::Capture> captures;
  std::vector<GuestEpoch> epochs;
  std::vector<ThreadName> thread_names;
  std::vector<std::pair<std::string, std::string>> blobs;
  std::vector<std::string> warnings;
  std::vector<std::string> left;
  std::vector<Statistics> statistics_seen;
};

inline Collector collect(Reader& reader) {
  Collector collector;
  EXPECT_TRUE(reader.for_each(collector));
  return collector;
}

}  // namespace ringside::recording::testing
