#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/pair_table.h"
#include "profile/builder.h"
#include "profile/counter_table.h"
#include "profile/frame_namer.h"
#include "profile/group_table.h"
#include "profile/kernel_mappings.h"
#include "profile/part_lists.h"
#include "profile/profile.h"
#include "profile/source_choice.h"
#include "profile/thread_names.h"
#include "recording/reader.h"

namespace ringside::profile {

// Reads a recording into what the builder names: tables of frames and nodes, and the samples summed
// up by everything but time. Fills those fields of the profile that need no names.
class Collector : public recording::Visitor {
 public:
  // Blobs go to `namer`.
  Collector(const BuildOptions& options, FrameNamer& namer, Profile& profile);

  struct SampleOwner : Owner {
    bool knows_mappings = false;  // of its address space
    auto operator<=>(const SampleOwner&) const = default;
  };

  // Where parts of stacks broke off.
  struct BrokenPart {
    std::uint32_t frame = 0;  // the outermost; 0 where there is none
    bool is_user = false;
    StopReason reason = StopReason::kNoRule;
    bool has_tables = false;  // the frame's image, of unwind information
    bool has_file = false;    // the same image, or for its parts the kernel, on the host
    std::uint64_t samples = 0;
  };

  // By id; the entry 0 stands for none.
  std::vector<recording::RecordedFrame> frames{1};
  LargeVector<recording::StackNode> nodes{recording::StackNode()};
  std::vector<std::string> texts{1};
  std::map<std::uint32_t, recording::ImageInfo> images;
  std::map<std::uint32_t, recording::Mapping> mappings;
  PartLists bases;  // the parts of stacks but the one that ran
  std::vector<SampleOwner> owners;
  GroupTable groups;
  CounterTable counter_sums;

  void image(const recording::ImageInfo& value) override {
    images[value.id] = value;
    namer_.image(value);
  }
  void mapping(const recording::Mapping& value) override {
    mappings[value.id] = value;
    kernels_.add(value);
  }
  void epoch(const recording::GuestEpoch&) override {
    kernels_.begin_epoch();
    epochs_.push_back(frames.size());
  }
  void frame(std::uint32_t, const recording::RecordedFrame& value) override {
    frames.push_back(value);
  }
  void stack_node(std::uint32_t, const recording::StackNode& value) override {
    nodes.push_back(value);
  }
  void clock(const recording::Clock& value) override { choice_.add(value); }
  void source(const recording::Source& value) override { choice_.add(value); }
  void text(std::uint32_t, std::string_view value) override { texts.emplace_back(value); }
  void thread(std::uint32_t, const recording::Thread& value) override { threads_.push_back(value); }
  void stack_list(std::uint32_t, const recording::StackList& value) override {
    lists_.push_back(value);
  }
  void context(std::uint32_t, const recording::Context& value) override {
    contexts_.push_back(value);
    sums_.emplace_back();
    context_groups_.push_back(0);
  }
  void sample_batch(const recording::SampleBatch& batch) override;
  void event_type(const recording::EventType& value) override { event_types_[value.id] = value; }
  void events(const recording::EventBatch& batch) override;
  void counter_set(const recording::CounterSet& value) override { counter_sets_[value.id] = value; }
  void mark(const recording::Mark& value) override { mark_times_[value.id] = value.time_ns; }
  void counters(const recording::CounterBatch& batch) override;
  void thread_name(const recording::ThreadName& value) override {
    names_.add(value);
    newest_name_ns_ = std::max(newest_name_ns_, value.time_ns);
    ++answers_;
  }
  void blob(const recording::Blob& value) override { namer_.blob(value); }
  void function(const recording::ImageFunction& value) override { namer_.function(value); }
  void warning(std::string_view text) override;
  void left_out(std::string_view text) override;
  void statistics(const recording::Statistics& value) override {
    statistics_[value.source] = value;
  }

  // To be called when everything has been read, before what follows. Errors: those of
  // build_profile().
  [[nodiscard]] Result<void> finish();
  [[nodiscard]] std::vector<recording::Source> chosen_sources() const { return choice_.chosen(); }
  [[nodiscard]] recording::Clock clock_of(const recording::Source& source) const {
    return choice_.clock_of(source);
  }
  [[nodiscard]] std::vector<BrokenPart> broken_parts() const;
  // A process that has no name, and that has all samples since it was first seen, shows nothing:
  // the profile knows no processes then. To be called when everything has been read.
  void forget_lone_process();
  // The name of a thread when everything has been read.
  [[nodiscard]] StringId last_name(std::uint32_t pid, std::uint32_t tid);
  // Gives kernel frames that were sampled before their code was found the image that lies there. To
  // be called when everything has been read.
  void place_early_frames();

 protected:
  // Rows with these times follow.
  void begin_rows(const std::vector<std::uint64_t>& times, const SourceChoice::Value& value);
  // The group of a row; kNoGroup where the filter leaves it out. Groups get the same numbers
  // whenever a recording is read.
  [[nodiscard]] std::uint32_t group_of(std::uint32_t context, std::uint64_t time);
  [[nodiscard]] SourceChoice& choice() { return choice_; }
  [[nodiscard]] const recording::EventType& event_type_of(std::uint32_t id) {
    return event_types_[id];
  }

 private:
  struct OwnerHash {
    std::size_t operator()(const SampleOwner& owner) const;
  };
  // Samples of one context since they were settled, small because there is one for each sample to
  // be found. `answer` is answers_ when their group was found; 0: it was not.
  struct ContextSum {
    std::uint64_t weight = 0;
    std::uint32_t samples = 0;
    std::uint32_t answer = 0;
  };
  // The stacks that ran, without those of other roles.
  [[nodiscard]] std::span<const recording::StackRef> own_stacks(const recording::Context& context);
  // A record that stands for so many samples.
  void add_row(std::uint32_t context, std::uint64_t time, std::uint64_t weight,
               std::uint64_t samples);
  // The sum of a context whose group is found.
  ContextSum& entered(std::uint32_t context, std::uint64_t time_ns);
  [[nodiscard]] std::uint64_t host_time(std::uint64_t time) const;
  // Makes samples of the counters. No frames may follow.
  void add_counters();
  // Finds the group of a context's samples at that time.
  void enter(std::uint32_t context, std::uint64_t time_ns);
  // Adds its samples to where they belong.
  void settle(std::uint32_t context);
  void add_to_group(std::uint32_t context, std::uint64_t samples, std::uint64_t weight);
  // Adds them to what the profile shows of all samples, before filters.
  void count(std::uint32_t context, std::uint64_t samples, std::uint64_t weight);
  // Samples that are not of the filter's time.
  void leave_out(std::uint32_t context, std::uint64_t samples, std::uint64_t weight);
  void add_broken(const recording::Context& context, std::span<const recording::StackRef> stacks,
                  std::uint64_t samples);
  [[nodiscard]] std::uint32_t outermost_frame(std::uint32_t node) const;
  [[nodiscard]] std::set<std::uint32_t> images_with_tables() const;
  [[nodiscard]] bool wanted(const recording::Context& context) const;
  [[nodiscard]] ThreadNames::Called called(std::uint64_t time_ns, const recording::Thread& thread);
  [[nodiscard]] StringId unnamed(std::uint32_t tid);
  void note_owner(const recording::Context& context, StringId comm);
  [[nodiscard]] OwnerId owner_of(const recording::Context& context, ThreadNames::Called called,
                                 std::uint64_t time_ns);
  // None beyond BuildOptions::most_spans: check_spans() fails then.
  [[nodiscard]] std::optional<std::uint64_t> span_of(std::uint64_t time_ns);
  [[nodiscard]] Result<void> check_spans() const;

  const BuildOptions& options_;
  FrameNamer& namer_;
  Profile& profile_;
  SourceChoice choice_;
  std::map<std::uint32_t, recording::Statistics> statistics_;  // by source
  KernelMappings kernels_;
  std::vector<std::size_t> epochs_;  // the first frame of each but the first
  // By id; the entry 0 stands for none.
  std::vector<recording::Thread> threads_{1};
  std::vector<recording::StackList> lists_{1};
  std::vector<recording::Context> contexts_{1};
  std::map<std::uint32_t, recording::EventType> event_types_;
  std::map<std::uint32_t, recording::CounterSet> counter_sets_;
  std::map<std::uint32_t, std::uint64_t> mark_times_;
  std::uint64_t last_mark_ns_ = 0;
  LargeVector<ContextSum> sums_{ContextSum()};    // by context
  std::vector<std::uint32_t> context_groups_{1};  // by context: since it was entered
  std::vector<recording::StackRef> stacks_;       // reused
  // Changes with all that enter() finds out of.
  std::uint32_t answers_ = 1;
  // For the rows at hand: no later name will be found for their times.
  bool names_are_settled_ = true;
  bool has_host_time_ = true;
  std::uint64_t newest_name_ns_ = 0;  // from when on the last names of all threads hold
  ThreadNames names_;
  StringId idle_thread_ = 0;
  std::unordered_map<std::uint32_t, StringId> unnamed_;  // by tid
  std::unordered_map<SampleOwner, OwnerId, OwnerHash> owner_ids_;
  std::unordered_set<std::uint64_t> spans_;  // those seen, by when they begin …
  bool has_all_spans_ = true;                // … if there are not too many
  std::uint64_t first_span_ns_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_span_ns_ = 0;
  PairTable broken_;  // of a node and its stop: see add_broken()
  std::vector<std::uint64_t> broken_samples_;
  std::vector<bool> is_noted_;             // by StringId: profile_.process_names has it
  std::optional<std::uint32_t> lone_pid_;  // of all samples since the first that has one …
  bool is_lone_ = true;                    // … if they have no other
};

}  // namespace ringside::profile
