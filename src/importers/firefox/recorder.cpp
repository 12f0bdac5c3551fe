#include "importers/firefox/recorder.h"

#include <algorithm>
#include <cmath>

#include "importers/parts/event_numbers.h"
#include "importers/parts/json_series.h"

namespace ringside::importers::firefox {
namespace {

std::uint64_t whole(double value) {
  constexpr double kMost = 9e18;
  return value > 0 && value < kMost ? static_cast<std::uint64_t>(value) : 0;
}

}  // namespace

Recorder::Recorder(std::string input, Profile& profile, Target& target)
    : input_(std::move(input)),
      profile_(profile),
      target_(target),
      plan_(plan_threads(profile)),
      images_(profile),
      counts_(plan_.sources.size()),
      carries_(plan_.series.size()) {
  for (const Series& series : plan_.series)
    base_ns_ = std::min(base_ns_, series.samples->times.front());
  for (std::uint32_t i = 0; i < plan_.sources.size(); ++i) {
    statistics_.emplace_back();
    statistics_.back().source = i + 1;
  }
}

Result<Imported> Recorder::run() {
  std::vector<std::size_t> sizes;
  for (const Series& series : plan_.series) sizes.push_back(series.samples->size());
  RINGSIDE_TRY(in_order_of_time(
      sizes,
      [&](std::size_t series, std::size_t index) {
        return time_of({series, index});
      },
      [&](std::size_t series, std::size_t index) {
        return take({series, index});
      }));
  RINGSIDE_TRY(flush());
  if (writer_ == nullptr) return nothing();
  return finish();
}

std::uint64_t Recorder::time_of(Place place) const {
  const std::int64_t time = plan_.series[place.series].samples->times[place.index];
  return static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(base_ns_);
}

// Ringside's own ticks wait for the others of their time.
Result<void> Recorder::take(Place place) {
  constexpr std::size_t kMostPending = 1 << 20;
  if (!profile_.is_of_ringside()) return add(place, plan_.series[place.series]);
  const bool is_later = !pending_.empty() && time_of(pending_.front()) != time_of(place);
  if (is_later || pending_.size() == kMostPending) RINGSIDE_TRY(flush());
  pending_.push_back(place);
  return {};
}

// A tick of a vCPU is that of the thread with the same stack at that time.
Result<void> Recorder::flush() {
  const auto view = [&](Place place) { return plan_.series[place.series].view; };
  std::stable_sort(pending_.begin(), pending_.end(), [&](Place a, Place b) {
    return std::make_pair(view(a), stack_of(a)) < std::make_pair(view(b), stack_of(b));
  });
  const auto first_thread = std::find_if(
      pending_.begin(), pending_.end(), [&](Place place) { return view(place) == View::kThreads; });
  auto thread = first_thread;
  for (auto place = pending_.begin(); place != first_thread; ++place) {
    Series owner = plan_.series[place->series];
    while (view(*place) == View::kVcpus && thread != pending_.end() &&
           stack_of(*thread) < stack_of(*place)) {
      RINGSIDE_TRY(add(*thread, plan_.series[thread->series]));
      ++thread;
    }
    if (view(*place) == View::kVcpus && thread != pending_.end() &&
        stack_of(*thread) == stack_of(*place)) {
      owner.pid = plan_.series[thread->series].pid;
      owner.tid = plan_.series[thread->series].tid;
      ++thread;
    }
    RINGSIDE_TRY(add(*place, owner));
  }
  for (; thread != pending_.end(); ++thread)
    RINGSIDE_TRY(add(*thread, plan_.series[thread->series]));
  pending_.clear();
  return {};
}

std::int64_t Recorder::weight_of(Place place) {
  constexpr double kMost = 4e18;
  constexpr double kNanoseconds = 1e6;  // in a millisecond
  const Samples& samples = *plan_.series[place.series].samples;
  const double factor = samples.type == WeightType::kTime ? kNanoseconds : 1;
  double& carry = carries_[place.series];
  const double weight = at_or(samples.weights, place.index, 1.0) * factor + carry;
  if (!(std::abs(weight) < kMost)) return 0;
  const std::int64_t rounded = std::llround(weight);
  carry = weight - static_cast<double>(rounded);
  return rounded;
}

Result<void> Recorder::add(Place place, const Series& owner) {
  std::unique_ptr<Made>& made = made_[owner.tables];
  if (made == nullptr) made = std::make_unique<Made>(profile_, *owner.tables, images_);
  const std::uint32_t node = stack_of(place);
  if (node != kNoIndex && !made->maker.is_whole(node)) {
    leave_out(place, "its stack is none of the stack table, or has a frame that is none");
    return {};
  }
  RINGSIDE_TRY(create());
  recording::SampleInfo info;
  MadeStack stack;
  if (node == kNoIndex) {
    info.disposition = wire::Disposition::kFailed;
  } else if (made->stacks.is_idle(node)) {
    info.disposition = wire::Disposition::kIdle;
  } else {
    RINGSIDE_ASSIGN(const auto found, made->maker.stack_of(node, *writer_));
    if (!found) {
      leave_out(place, StackBudget::kReason);
      return {};
    }
    stack = *found;
  }
  recording::Statistics& statistics = statistics_[owner.source - 1];
  info.source = owner.source;
  info.time_ns = profile_.meta.time_is_bytes ? counts_[owner.source - 1]++ : time_of(place);
  info.weight = static_cast<std::uint64_t>(weight_of(place));
  info.vcpu = owner.vcpu;
  info.level = stack.level;
  info.pid = owner.pid;
  info.tid = owner.tid;
  statistics.due += recording::is_of_ticks(plan_.sources[owner.source - 1]) ? info.weight : 1;
  statistics.duration_ns = std::max(statistics.duration_ns, info.time_ns);
  ++samples_;
  return writer_->add_sample(info, stack.stacks(), {});
}

void Recorder::leave_out(Place place, const char* reason) {
  profile_.faults.add(
      fmt::format("sample {} of the samples' table {}", place.index + 1, place.series + 1), reason);
}

Result<void> Recorder::create() {
  if (writer_ != nullptr) return {};
  const Meta& meta = profile_.meta;
  recording::Header header;
  header.engine = "firefox";
  header.vcpu_count = meta.cpus;
  header.interval_ns = plan_.sources.front().period;
  header.start_wall_ns = whole(meta.start_ms * 1e6 + static_cast<double>(base_ns_));
  header.start_monotonic_ns = whole(meta.monotonic_ns + static_cast<double>(base_ns_));
  if (!meta.arguments.empty()) header.command_line = {meta.arguments};
  if (profile_.is_of_ringside()) header.kernel = meta.platform;
  RINGSIDE_ASSIGN(writer_, target_.create(std::move(header), plan_.sources));
  if (meta.time_is_bytes) {
    RINGSIDE_TRY(add_event_numbers(*writer_));
  }
  for (const Name& name : plan_.names)
    RINGSIDE_TRY(writer_->add_thread_name({0, name.pid, name.tid, 0, name.text}));
  return {};
}

Result<Imported> Recorder::finish() {
  for (const recording::Statistics& statistics : statistics_)
    RINGSIDE_TRY(writer_->add_statistics(statistics));
  Imported imported{samples_, warnings()};
  for (const std::string& warning : imported.warnings) RINGSIDE_TRY(writer_->add_warning(warning));
  return imported;
}

std::vector<std::string> Recorder::warnings() const {
  std::vector<std::string> sentences;
  if (profile_.faults.count() != 0)
    sentences.push_back(profile_.faults.sentence(input_, "entries"));
  std::uint64_t cut = 0;
  for (const auto& [tables, made] : made_) cut += made->maker.cut_stacks();
  if (cut != 0) sentences.push_back(cut_stacks_sentence(input_, cut));
  if (profile_.damage)
    sentences.push_back(fmt::format("{}: the rest is left out, from {}: {}", input_,
                                    profile_.damage->at, profile_.damage->reason));
  return sentences;
}

tl::unexpected<Error> Recorder::nothing() const {
  if (profile_.damage) return failed_by(*profile_.damage, input_);
  return fail(ErrorCode::kFormat, "{}: none of its {} threads has a sample{}", input_,
              profile_.thread_count,
              profile_.faults.count() == 0 ? "" : "; " + profile_.faults.first());
}

}  // namespace ringside::importers::firefox
