#include "views/allocations/allocations.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/sanitize.h"
#include "recording/guest_event_tables.h"

namespace ringside::views {
namespace {

using recording::FieldType;
using recording::GuestEventTables;

// Where an event type has the fields of an allocation.
struct Columns {
  std::optional<std::size_t> operation;
  std::optional<std::size_t> pointer;
  std::optional<std::size_t> old;
  std::optional<std::size_t> size;
  [[nodiscard]] bool are_of_allocations() const { return operation && pointer && size; }
};

Columns columns_of(const recording::EventType& type) {
  Columns columns;
  for (std::size_t n = 0; n < type.fields.size(); ++n) {
    const recording::EventField& field = type.fields[n];
    if (field.name == GuestEventTables::kOperation && field.type == FieldType::kText)
      columns.operation = n;
    else if (field.name == GuestEventTables::kPointer && field.type == FieldType::kAddress)
      columns.pointer = n;
    else if (field.name == GuestEventTables::kOld && field.type == FieldType::kAddress)
      columns.old = n;
    else if (field.name == GuestEventTables::kSize && field.type == FieldType::kInteger)
      columns.size = n;
  }
  return columns;
}

enum class Operation : std::uint8_t { kUnread, kAlloc, kRealloc, kFree, kOther };

class Follower final : public profile::SampleReceiver {
 public:
  Follower(const profile::DetailedProfile& profile, const AllocationOptions& options)
      : profile_(profile), options_(options) {}

  void sample(const profile::TimedSample&) override {}
  void event(const profile::TimedSample& sample, const profile::TimedEvent& event) override {
    add(event, sample.group);
  }
  void left_out(const profile::TimedEvent& event) override { add(event, kOtherStacks); }

  Result<std::vector<Allocator>> finish() {
    RINGSIDE_TRY(error_);
    RINGSIDE_TRY(check_names());
    std::vector<Allocator> allocators;
    for (auto& [type, allocator] : allocators_) {
      const std::uint64_t events = allocator.blocks.events().all();
      allocator.end =
          options_.in_events ? std::max<std::uint64_t>(events, 1) - 1 : ends_[allocator.clock.id];
      std::optional<std::uint64_t> older_than;
      if (options_.older_than) {
        RINGSIDE_ASSIGN(older_than,
                        ticks_of(*options_.older_than, allocator.clock, options_.in_events));
      }
      allocator.blocks.finish(allocator.end, older_than);
      allocators.push_back(std::move(allocator));
    }
    return allocators;
  }

 private:
  // An event type: its allocator is null where it is of none that is wanted.
  struct Known {
    Columns columns;
    Allocator* allocator = nullptr;
    std::uint64_t* end = nullptr;  // of the clock
  };

  void add(const profile::TimedEvent& event, std::uint32_t stack) {
    Known& known = known_of(event.type);
    std::uint64_t time = event.batch.times[event.row];
    if (known.end != nullptr) *known.end = std::max(*known.end, time);
    if (known.allocator == nullptr) return;
    const auto field = [&](std::size_t column) {
      return static_cast<std::uint64_t>(event.batch.fields[column].number(event.row));
    };
    const std::uint64_t pointer = field(*known.columns.pointer);
    LiveSet& blocks = known.allocator->blocks;
    if (options_.in_events) time = blocks.events().all();
    switch (operation_of(static_cast<std::uint32_t>(field(*known.columns.operation)))) {
      case Operation::kAlloc:
        return blocks.allocate(pointer, field(*known.columns.size), time, stack);
      case Operation::kRealloc: {
        const std::uint64_t old = known.columns.old ? field(*known.columns.old) : 0;
        return blocks.reallocate(old == 0 ? pointer : old, pointer, field(*known.columns.size),
                                 time, stack);
      }
      case Operation::kFree:
        return blocks.free(pointer, time);
      default:
        return blocks.add_other();
    }
  }

  Operation operation_of(std::uint32_t text) {
    if (text >= operations_.size()) operations_.resize(text + 1, Operation::kUnread);
    Operation& known = operations_[text];
    if (known != Operation::kUnread) return known;
    constexpr std::array kNames = {"alloc", "realloc", "free"};
    const std::string_view name = profile_.text(text);
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    known = found == kNames.end()
                ? Operation::kOther
                : static_cast<Operation>(1 + std::distance(kNames.begin(), found));
    return known;
  }

  Known& known_of(const recording::EventType& type) {
    const auto [known, is_new] = known_.try_emplace(type.id);
    if (is_new) known->second = make_known(type);
    return known->second;
  }

  Known make_known(const recording::EventType& type) {
    const auto& sources = profile_.sources();
    const auto source = std::find_if(sources.begin(), sources.end(),
                                     [&](const auto& one) { return one.source.id == type.source; });
    Known known{columns_of(type), nullptr, nullptr};
    if (source == sources.end() || !known.columns.are_of_allocations() ||
        source->source.kind != recording::SourceKind::kAllocations)
      return known;
    known.end = &ends_[source->clock.id];
    std::string name = type.name.empty() ? "[unnamed]" : profile::sanitize(type.name);
    names_.insert(name);
    const auto& wanted = options_.allocators;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end())
      return known;
    const recording::Clock clock =
        options_.in_events
            ? recording::Clock{source->clock.id, recording::ClockKind::kEventNumber, {}, 0}
            : source->clock;
    std::optional<std::uint64_t> since;
    if (options_.since) {
      const auto ticks = ticks_of(*options_.since, clock, options_.in_events);
      if (ticks)
        since = *ticks;
      else
        error_ = tl::unexpected(ticks.error());
    }
    Allocator allocator{std::move(name), type.fields[*known.columns.size].unit, clock, 0,
                        LiveSet(type.id, frees_, since)};
    known.allocator = &allocators_.emplace(type.id, std::move(allocator)).first->second;
    return known;
  }

  [[nodiscard]] Result<void> check_names() const {
    if (names_.empty())
      return fail(ErrorCode::kNotFound,
                  "there are no allocations in it; kernels with ringside's guest library and "
                  "Maestro's memtrace record them");
    for (const std::string& wanted : options_.allocators)
      if (names_.count(wanted) == 0)
        return fail(ErrorCode::kUsage, "there is no allocator {}; the recording has {}", wanted,
                    fmt::join(names_, ", "));
    return {};
  }

  const profile::DetailedProfile& profile_;
  const AllocationOptions& options_;
  RecentFrees frees_;
  std::map<std::uint32_t, Allocator> allocators_;  // by event type, which are in order of sight
  std::map<std::uint32_t, Known> known_;           // by event type
  std::map<std::uint32_t, std::uint64_t> ends_;    // by clock
  std::vector<Operation> operations_;              // by text
  std::set<std::string> names_;                    // of all allocators, as they are shown
  Result<void> error_;
};

}  // namespace

Result<std::vector<Allocator>> follow_allocations(profile::DetailedProfile& profile,
                                                  const AllocationOptions& options) {
  Follower follower(profile, options);
  RINGSIDE_TRY(profile.for_each(follower));
  return follower.finish();
}

}  // namespace ringside::views
