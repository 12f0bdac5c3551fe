#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/builder.h"
#include "profile/collector.h"
#include "profile/frame_table.h"
#include "profile/owner_chooser.h"
#include "recording/reader.h"

namespace ringside::profile {

// A frame of a recording, with its names.
struct DetailedFrame {
  std::uint32_t id = 0;  // in the recording; 0: it stands for frames that are lost or not there
  GuestVirt address;     // 0 where the recording has a name instead
  bool exact = false;    // as in ringside::Frame
  Kind kind = Kind::kUnknown;
  const recording::ImageInfo* image = nullptr;  // null: no image is mapped there
  const recording::Mapping* mapping = nullptr;
  std::span<const FrameId> functions;  // in Profile::frames, outermost first; never empty
  std::span<const Place> places;       // of those, or empty
  SymbolRange symbol;                  // of the first of them

  // The address that names were looked up with; 0 where there is none.
  [[nodiscard]] GuestVirt lookup_address() const {
    return exact || address.value == 0 ? address : address - 1;
  }
  [[nodiscard]] Place place(std::size_t function) const {
    return function < places.size() ? places[function] : Place();
  }
};

// One of the frames of a group's stack.
struct StackEntry {
  std::uint32_t frame = 0;      // for frame(); ids of lost frames are beyond those of the recording
  bool knows_mappings = false;  // for frame()
  bool is_user_part = false;    // it is of the user code that entered the kernel
};

// A source and those of its values that were chosen.
struct ChosenSource {
  recording::Source source;
  recording::Clock clock;           // the source's
  std::vector<std::size_t> values;  // in source.values
};

// One sample, event or sum of counters.
struct TimedSample {
  std::uint32_t source = 0;  // in DetailedProfile::sources()
  std::uint32_t group = 0;
  std::uint64_t time = 0;                // by the source's clock
  std::uint64_t pause_ns = 0;            // as recording::SampleInfo has it
  std::span<const std::int64_t> values;  // those of the ChosenSource, scaled
};

// An event with its fields.
struct TimedEvent {
  const recording::EventType& type;
  const recording::EventBatch& batch;
  std::size_t row = 0;
};

class SampleReceiver {
 public:
  virtual ~SampleReceiver() = default;
  virtual void sample(const TimedSample&) = 0;
  // The same of an event.
  virtual void event(const TimedSample& sample, const TimedEvent&) { this->sample(sample); }
  // An event of a chosen source that the filter leaves out.
  virtual void left_out(const TimedEvent&) {}
};

// The samples of a recording one by one and by address, with names: what a Profile sums up. For
// formats that have times, addresses, source lines or several values. Its size depends on the
// number of distinct stacks.
class DetailedProfile {
 public:
  // Reads the recording once. `reader` and `namer` must outlive it. Errors: those of
  // build_profile().
  [[nodiscard]] static Result<std::unique_ptr<DetailedProfile>> read(recording::Reader& reader,
                                                                     FrameNamer& namer,
                                                                     BuildOptions options);

  // Strings, functions, frames, owners and sums: all but stacks and samples.
  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] const std::vector<ChosenSource>& sources() const { return sources_; }
  [[nodiscard]] const std::map<std::uint32_t, recording::ImageInfo>& images() const {
    return collected_.images;
  }
  [[nodiscard]] const std::map<std::uint32_t, recording::Mapping>& mappings() const {
    return collected_.mappings;
  }
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return collected_.texts[id]; }

  // Samples that agree in everything but time and values. Those that a filter leaves out have none.
  [[nodiscard]] std::size_t group_count() const { return owners_.size(); }
  [[nodiscard]] bool has_group(std::uint32_t group) const { return owners_[group].has_value(); }
  [[nodiscard]] OwnerId owner_id(std::uint32_t group) const { return *owners_[group]; }
  [[nodiscard]] const Owner& owner_of(std::uint32_t group) const {
    return profile_.owners[*owners_[group]];
  }
  // The frames of a group's stack, leaf first. None unless it was sampled; else at least one.
  // Valid until the next call.
  [[nodiscard]] std::span<const StackEntry> stack_of(std::uint32_t group);
  // Valid until the next call that takes a frame that was not asked for yet.
  [[nodiscard]] DetailedFrame frame(const StackEntry& entry);

  // Reads the recording again, and hands on its samples and events in the order in which they were
  // written: those of one source and vCPU are in order of time. Sums of counters come last, at the
  // time of the last mark.
  [[nodiscard]] Result<void> for_each(SampleReceiver& receiver);

 private:
  friend class SampleReplayer;
  DetailedProfile(recording::Reader& reader, FrameNamer& namer, BuildOptions options);
  void choose_owners();
  void choose_sources();
  // Marks the stacks beyond what a recording of this size has as lost.
  void bound_stacks();
  // Appends a part's frames to stack_.
  void append_part(std::uint32_t node, bool knows_mappings, bool is_user_part);
  void cut_at_interrupt();
  [[nodiscard]] bool is_interrupt(std::uint32_t group) const;

  recording::Reader& reader_;
  FrameNamer& namer_;
  BuildOptions options_;
  Profile profile_;
  Collector collected_;
  std::unique_ptr<FrameTable> frames_;
  std::vector<ChosenSource> sources_;
  std::vector<OwnerChooser::Choice> owners_;  // by group
  std::vector<bool> is_lost_;                 // by group
  std::vector<StackEntry> stack_;             // reused
  FrameId lost_stack_ = 0;
  FrameId no_stack_ = 0;
  bool said_heavy_ = false;
};

}  // namespace ringside::profile
