#include "profile/detailed_profile.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/pair_table.h"
#include "profile/event_values.h"
#include "profile/sanitize.h"
#include "profile/stack_bounds.h"

namespace ringside::profile {

// Reads a recording again and finds the groups of its samples, in the same way and thus with the
// same numbers as the first time.
class SampleReplayer final : public Collector {
 public:
  SampleReplayer(DetailedProfile& profile, SampleReceiver& receiver)
      : Collector(profile.options_, no_names_, unused_), profile_(profile), receiver_(receiver) {
    unused_.header = profile.profile_.header;
    extents_.resize(profile.sources_.size());
    for (std::size_t i = 0; i < extents_.size(); ++i)
      extents_[i].resize(profile.sources_[i].values.size(), std::numeric_limits<Weight>::max());
  }

  // The profile has them.
  void image(const recording::ImageInfo&) override {}
  void mapping(const recording::Mapping&) override {}
  void frame(std::uint32_t, const recording::RecordedFrame&) override {}
  void stack_node(std::uint32_t, const recording::StackNode&) override {}
  void text(std::uint32_t, std::string_view) override {}

  void sample_batch(const recording::SampleBatch& batch) override {
    if (!begin(batch.source, batch.size(), batch.times)) return;
    for (std::size_t row = 0; row < batch.size(); ++row) {
      if (!set_group(batch.contexts[row], batch.times[row])) continue;
      for (std::size_t i = 0; i < values_.size(); ++i)
        set_value(i, static_cast<std::uint64_t>(batch.value(chosen().values[i], row)));
      sample_.pause_ns = batch.pause(row);
      receiver_.sample(sample_);
      sample_.pause_ns = 0;
    }
  }

  void events(const recording::EventBatch& batch) override {
    const recording::EventType& type = event_type_of(batch.type);
    if (!begin(type.source, batch.size(), batch.times)) return;
    std::vector<EventValue> values;
    for (const std::size_t index : chosen().values)
      values.emplace_back(type, index, chosen().source.values[index].name);
    for (std::size_t row = 0; row < batch.size(); ++row) {
      if (!set_group(batch.contexts[row], batch.times[row])) {
        receiver_.left_out({type, batch, row});
        continue;
      }
      for (std::size_t i = 0; i < values.size(); ++i) set_value(i, values[i].of(batch, row));
      receiver_.event(sample_, {type, batch, row});
    }
  }

  void counter_set(const recording::CounterSet& value) override { sets_[value.id] = value; }
  void mark(const recording::Mark& value) override { marks_[value.id] = value.time_ns; }
  void counters(const recording::CounterBatch& batch) override {
    const recording::CounterSet& set = sets_[batch.set];
    const std::uint64_t time_ns = marks_[batch.mark];
    if (!find_source(set.source) || !profile_.options_.filter.has_time(time_ns)) return;
    last_mark_ns_ = std::max(last_mark_ns_, time_ns);
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const CounterSum* const sum = profile_.collected_.counter_sums.find(key_of(set, batch, row));
      if (sum == nullptr || sum->group == kNoGroup) continue;
      std::vector<std::uint64_t>& sums = counter_values_[{sample_.source, sum->group}];
      sums.resize(values_.size());
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += static_cast<std::uint64_t>(batch.value(chosen().values[i], row));
    }
  }

  // Hands on what is known only when everything has been read.
  void finish() {
    for (const auto& [key, sums] : counter_values_) {
      std::tie(sample_.source, sample_.group) = key;
      if (!profile_.has_group(sample_.group)) continue;
      sample_.time = last_mark_ns_;
      values_.resize(sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) set_value(i, sums[i]);
      sample_.values = values_;
      receiver_.sample(sample_);
    }
  }

 private:
  // Rows of that source follow, if it was chosen.
  bool begin(std::uint32_t source, std::size_t rows, const std::vector<std::uint64_t>& times) {
    const SourceChoice::Value* const value = choice().take(source, rows);
    if (value == nullptr || !find_source(source)) return false;
    begin_rows(times, *value);
    return true;
  }
  bool find_source(std::uint32_t id) {
    for (std::size_t i = 0; i < profile_.sources_.size(); ++i) {
      if (profile_.sources_[i].source.id != id) continue;
      sample_.source = static_cast<std::uint32_t>(i);
      values_.resize(chosen().values.size());
      sample_.values = values_;
      return true;
    }
    return false;
  }
  [[nodiscard]] const ChosenSource& chosen() const { return profile_.sources_[sample_.source]; }
  bool set_group(std::uint32_t context, std::uint64_t time) {
    sample_.group = group_of(context, time);
    sample_.time = time;
    return sample_.group != kNoGroup && profile_.has_group(sample_.group);
  }
  // Every sum of values is one that a Weight can be: beyond that they are 0.
  void set_value(std::size_t index, std::uint64_t value) {
    const std::uint64_t scale = chosen().source.values[chosen().values[index]].scale;
    const auto weight = static_cast<Weight>(value * scale);
    std::uint64_t& left = extents_[sample_.source][index];
    const bool fits = extent_of(weight) <= left;
    if (fits)
      left -= extent_of(weight);
    else if (!std::exchange(profile_.said_heavy_, true))
      profile_.profile_.left_out.emplace_back(kTooHeavy);
    values_[index] = fits ? weight : 0;
  }

  DetailedProfile& profile_;
  SampleReceiver& receiver_;
  NoNames no_names_;
  Profile unused_;
  TimedSample sample_;
  std::vector<std::int64_t> values_;
  std::vector<std::vector<std::uint64_t>> extents_;  // that values to come may have
  std::map<std::uint32_t, recording::CounterSet> sets_;
  std::map<std::uint32_t, std::uint64_t> marks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> counter_values_;
  std::uint64_t last_mark_ns_ = 0;
};

DetailedProfile::DetailedProfile(recording::Reader& reader, FrameNamer& namer, BuildOptions options)
    : reader_(reader),
      namer_(namer),
      options_(std::move(options)),
      collected_(options_, namer_, profile_) {
  profile_.header = reader.header();
  profile_.damage = reader.damage();
}

Result<std::unique_ptr<DetailedProfile>> DetailedProfile::read(recording::Reader& reader,
                                                               FrameNamer& namer,
                                                               BuildOptions options) {
  std::unique_ptr<DetailedProfile> made(new DetailedProfile(reader, namer, std::move(options)));
  RINGSIDE_TRY(reader.for_each(made->collected_));
  RINGSIDE_TRY(made->collected_.finish());
  made->collected_.forget_lone_process();
  made->collected_.place_early_frames();
  made->frames_ =
      std::make_unique<FrameTable>(made->collected_, namer, made->options_, made->profile_);
  made->frames_->keep_places();
  made->lost_stack_ = made->frames_->placeholder(kLostStackName);
  made->no_stack_ = made->frames_->placeholder(kNoStackName);
  made->choose_sources();
  made->choose_owners();
  made->bound_stacks();
  return made;
}

void DetailedProfile::choose_sources() {
  for (const recording::Source& source : collected_.chosen_sources()) {
    ChosenSource chosen{source, collected_.clock_of(source), {}};
    for (std::size_t i = 0; i < source.values.size(); ++i)
      if (options_.value.empty() || source.values[i].name == options_.value)
        chosen.values.push_back(i);
    sources_.push_back(std::move(chosen));
  }
}

void DetailedProfile::choose_owners() {
  OwnerChooser chooser(collected_, options_.filter, profile_);
  owners_.resize(collected_.groups.size());
  for (std::uint32_t id = 0; id < owners_.size(); ++id) {
    const CollectedGroup& group = collected_.groups[id];
    if (group.samples == 0) continue;
    owners_[id] = chooser.owner_of(group.key.owner, is_interrupt(id));
    if (owners_[id]) continue;
    profile_.filtered_weight += group.weight;
    profile_.filtered_samples += group.samples;
    if (collected_.owners[group.key.owner].disposition == wire::Disposition::kSampled)
      profile_.filtered_sampled += group.samples;
  }
}

// Whether a group's stack is cut at the interrupt's entry.
bool DetailedProfile::is_interrupt(std::uint32_t id) const {
  const CollectedGroup& group = collected_.groups[id];
  if (options_.join_interrupts || group.key.part == recording::kLostStack ||
      collected_.owners[group.key.owner].disposition != wire::Disposition::kSampled)
    return false;
  for (std::uint32_t node = group.key.part; node != 0; node = collected_.nodes[node].parent)
    if (collected_.frames[collected_.nodes[node].frame].kind == FrameKind::kInterrupt) return true;
  return false;
}

// As StackPlacer counts them: each recorded node once on each base.
void DetailedProfile::bound_stacks() {
  const PartLists& bases = collected_.bases;
  const std::uint64_t most = most_nodes(reader_.size());
  PairTable placed;
  bool is_full = false;
  const auto place = [&](std::uint32_t base, std::uint32_t node) {
    while (node != 0 && node != recording::kLostStack && placed.size() < most) {
      const std::size_t known = placed.size();
      placed.intern(base, node);
      if (placed.size() == known) return;  // and all below it
      node = collected_.nodes[node].parent;
    }
    is_full |= node != 0 && node != recording::kLostStack;
  };
  is_lost_.resize(owners_.size());
  for (std::size_t id = 0; id < owners_.size(); ++id) {
    if (!owners_[id] || is_full) {
      is_lost_[id] = is_full;
      continue;
    }
    const GroupKey& key = collected_.groups[id].key;
    place(key.base, key.part);
    for (std::uint32_t base = key.base; base != 0; base = bases.base(base))
      place(bases.base(base), bases.part(base));
    is_lost_[id] = is_full;
  }
  if (is_full) profile_.left_out.push_back(beyond_nodes(most));
}

std::span<const StackEntry> DetailedProfile::stack_of(std::uint32_t group) {
  stack_.clear();
  const auto frame_count = static_cast<std::uint32_t>(collected_.frames.size());
  const GroupKey& key = collected_.groups[group].key;
  const Collector::SampleOwner& owner = collected_.owners[key.owner];
  if (owner.disposition != wire::Disposition::kSampled) return {};
  if (is_lost_[group]) {
    stack_.push_back({frame_count, false, false});
    return stack_;
  }
  append_part(key.part, owner.knows_mappings, false);
  if (is_interrupt(group)) {
    cut_at_interrupt();
    return stack_;
  }
  for (std::uint32_t base = key.base; base != 0; base = collected_.bases.base(base))
    append_part(collected_.bases.part(base), owner.knows_mappings,
                collected_.bases.base(base) == 0);
  if (stack_.empty()) stack_.push_back({frame_count + 1, false, false});
  return stack_;
}

void DetailedProfile::append_part(std::uint32_t node, bool knows_mappings, bool is_user_part) {
  if (node == recording::kLostStack) {
    stack_.push_back({static_cast<std::uint32_t>(collected_.frames.size()), false, is_user_part});
    return;
  }
  for (; node != 0; node = collected_.nodes[node].parent)
    stack_.push_back({collected_.nodes[node].frame, knows_mappings, is_user_part});
}

// Where interrupts are nested, the outermost counts.
void DetailedProfile::cut_at_interrupt() {
  while (collected_.frames[stack_.back().frame].kind != FrameKind::kInterrupt) stack_.pop_back();
  for (StackEntry& entry : stack_) entry.knows_mappings = false;
}

DetailedFrame DetailedProfile::frame(const StackEntry& entry) {
  DetailedFrame frame;
  if (entry.frame >= collected_.frames.size()) {
    frame.functions = {entry.frame == collected_.frames.size() ? &lost_stack_ : &no_stack_, 1};
    return frame;
  }
  const recording::RecordedFrame& recorded = collected_.frames[entry.frame];
  frame.id = entry.frame;
  frame.address = recorded.address;
  frame.exact = recorded.exact;
  frame.places = frames_->places_of(entry.frame);
  frame.symbol = frames_->symbol_of(entry.frame);
  frame.functions = frames_->frames_of(entry.frame, entry.knows_mappings);
  frame.kind = static_cast<Kind>(recorded.kind);
  if (const auto image = collected_.images.find(recorded.image); image != collected_.images.end())
    frame.image = &image->second;
  if (const auto mapping = collected_.mappings.find(recorded.mapping);
      mapping != collected_.mappings.end())
    frame.mapping = &mapping->second;
  return frame;
}

Result<void> DetailedProfile::for_each(SampleReceiver& receiver) {
  SampleReplayer replayer(*this, receiver);
  RINGSIDE_TRY(reader_.for_each(replayer));
  replayer.finish();
  return {};
}

}  // namespace ringside::profile
