#include "importers/speedscope/speedscope.h"

#include <cmath>
#include <limits>
#include <optional>

#include "importers/parts/event_numbers.h"
#include "importers/parts/json_series.h"
#include "importers/speedscope/file_stacks.h"
#include "importers/speedscope/profile_plan.h"
#include "importers/speedscope/speedscope_file.h"

namespace ringside::importers {
namespace speedscope {
namespace {

using recording::Writer;

// A whole number that a recording can hold.
std::optional<std::int64_t> rounded(long double value) {
  constexpr long double kMost = 4e18L;
  if (!(value > -kMost && value < kMost)) return std::nullopt;
  return std::llround(value);
}

// Goes through a profile's samples. The part that is rounded off one weight is added to the next,
// so that the sum stays right.
class Cursor {
 public:
  explicit Cursor(const PlannedProfile& planned)
      : planned_(planned), at_(planned.unit.factor * planned.profile->start) {}

  // Where the sample at `index` begins, which is the next one, in the recording's unit.
  [[nodiscard]] long double start(std::size_t index) const {
    const Profile& profile = *planned_.profile;
    return profile.is_evented() ? planned_.unit.factor * profile.starts[index] : at_;
  }
  // The weight of that sample; nothing where a recording cannot have it.
  [[nodiscard]] std::optional<std::int64_t> take(std::size_t index) {
    const double weight = planned_.profile->weights[index];
    if (planned_.unit.is_time() && weight < 0) return std::nullopt;
    const auto begin = rounded(start(index));
    at_ = start(index) + planned_.unit.factor * weight;
    const auto end = rounded(at_);
    if (!begin || !end) return std::nullopt;
    return *end - *begin;
  }

 private:
  const PlannedProfile& planned_;
  long double at_;
};

class Recorder {
 public:
  Recorder(const Input& input, File& file, Target& target)
      : input_(input),
        file_(file),
        target_(target),
        plan_(plan_profiles(file)),
        stacks_(file),
        maker_(stacks_, file.budget),
        counts_(plan_.sources.size()),
        ends_(plan_.sources.size()) {
    for (const PlannedProfile& planned : plan_.profiles) cursors_.emplace_back(planned);
    set_base();
  }

  Result<Imported> run() {
    std::vector<std::size_t> sizes;
    for (const PlannedProfile& planned : plan_.profiles) sizes.push_back(planned.profile->size());
    RINGSIDE_TRY(in_order_of_time(
        sizes, [&](std::size_t series, std::size_t index) { return time_of(series, index); },
        [&](std::size_t series, std::size_t index) { return add(series, index); }));
    if (writer_ == nullptr) return nothing();
    for (std::uint32_t i = 0; i < counts_.size(); ++i) {
      recording::Statistics statistics;
      statistics.source = i + 1;
      statistics.due = counts_[i];
      statistics.duration_ns = ends_[i];
      RINGSIDE_TRY(writer_->add_statistics(statistics));
    }
    Imported imported{samples_, warnings()};
    for (const std::string& warning : imported.warnings)
      RINGSIDE_TRY(writer_->add_warning(warning));
    return imported;
  }

 private:
  // Times count from where the first profile begins.
  void set_base() {
    std::optional<std::int64_t> first;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      if (!plan_.profiles[i].unit.is_time() || plan_.profiles[i].profile->size() == 0) continue;
      const auto start = rounded(cursors_[i].start(0));
      if (start && (!first || *start < *first)) first = start;
    }
    base_ = first.value_or(0);
  }

  // Profiles without times come one behind the other.
  [[nodiscard]] std::uint64_t time_of(std::size_t series, std::size_t index) const {
    if (!plan_.profiles[series].unit.is_time()) return std::numeric_limits<std::uint64_t>::max();
    const std::int64_t start = rounded(cursors_[series].start(index)).value_or(base_);
    return start > base_ ? static_cast<std::uint64_t>(start - base_) : 0;
  }

  Result<void> add(std::size_t series, std::size_t index) {
    const PlannedProfile& planned = plan_.profiles[series];
    const std::uint64_t time = time_of(series, index);
    const auto weight = cursors_[series].take(index);
    const std::uint32_t stack = planned.profile->stacks[index];
    if (!weight) {
      leave_out(planned, index, "its weight is none that a sample can have");
      return {};
    }
    if (stack != kNoIndex && !maker_.is_whole(stack)) {
      leave_out(planned, index, "it has a frame that is none of the shared ones");
      return {};
    }
    RINGSIDE_TRY(create());
    MadeStack made;
    if (stack != kNoIndex) {
      RINGSIDE_ASSIGN(const auto found, maker_.stack_of(stack, *writer_));
      if (!found) {
        leave_out(planned, index, StackBudget::kReason);
        return {};
      }
      made = *found;
    }
    const std::uint32_t source = planned.source - 1;
    recording::SampleInfo info;
    info.source = planned.source;
    info.time_ns = planned.unit.is_time() ? time : counts_[source];
    info.weight = static_cast<std::uint64_t>(*weight);
    info.vcpu = planned.vcpu;
    info.pid = planned.pid;
    if (planned.pid) info.tid = planned.tid;
    if (planned.unit.is_time())
      ends_[source] = std::max(ends_[source], time + static_cast<std::uint64_t>(*weight));
    ++counts_[source];
    ++samples_;
    return writer_->add_sample(info, made.stacks(), {});
  }

  void leave_out(const PlannedProfile& planned, std::size_t index, const char* reason) {
    file_.faults.add(fmt::format("sample {} of profile {}", index + 1, planned.profile->number),
                     reason);
  }

  Result<void> create() {
    if (writer_ != nullptr) return {};
    recording::Header header;
    header.engine = "speedscope";
    if (is_of_ringside(file_)) header.kernel = file_.name;
    header.start_monotonic_ns = base_ > 0 ? static_cast<std::uint64_t>(base_) : 0;
    RINGSIDE_ASSIGN(writer_, target_.create(std::move(header), plan_.sources));
    RINGSIDE_TRY(add_event_numbers(*writer_));
    for (const PlannedProfile& planned : plan_.profiles)
      if (planned.pid)
        RINGSIDE_TRY(writer_->add_thread_name({0, *planned.pid, planned.tid, 0, planned.thread}));
    return {};
  }

  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> sentences;
    if (plan_.left_out.count() != 0)
      sentences.push_back(plan_.left_out.sentence(input_.name, "profiles"));
    if (plan_.has_all)
      sentences.push_back(input_.name +
                          ": the profiles of threads are left out: those of all have more");
    if (file_.faults.count() != 0)
      sentences.push_back(file_.faults.sentence(input_.name, "entries"));
    if (maker_.cut_stacks() != 0)
      sentences.push_back(cut_stacks_sentence(input_.name, maker_.cut_stacks()));
    if (file_.damage)
      sentences.push_back(fmt::format("{}: the rest is left out, from {}: {}", input_.name,
                                      file_.damage->at, file_.damage->reason));
    return sentences;
  }

  tl::unexpected<Error> nothing() const {
    if (file_.damage) return failed_by(*file_.damage, input_.name);
    const Faults& faults = plan_.left_out.count() != 0 ? plan_.left_out : file_.faults;
    const std::string why = faults.count() == 0 ? "" : "; " + faults.first();
    return fail(ErrorCode::kFormat, "{}: none of its {} profiles has a sample{}", input_.name,
                file_.profile_count, why);
  }

  const Input& input_;
  File& file_;
  Target& target_;
  Plan plan_;
  FileStacks stacks_;
  StackMaker maker_;
  std::vector<Cursor> cursors_;  // of the plan's profiles
  std::int64_t base_ = 0;        // ns: where times count from
  Writer* writer_ = nullptr;
  std::vector<std::uint64_t> counts_;  // of samples, by source
  std::vector<std::uint64_t> ends_;    // ns, by source
  std::uint64_t samples_ = 0;
};

bool has_schema(std::string_view text) { return text.find(kSchema) != std::string_view::npos; }

}  // namespace
}  // namespace speedscope

Likeness speedscope_likeness(const Input& input, const ImportOptions&) {
  constexpr std::size_t kLook = 64 << 10;
  const std::string beginning = json_beginning(input, kLook);
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || beginning[first] != '{') return Likeness::kNone;
  const std::string_view text = input.text();
  const std::string_view end = text.substr(text.size() - std::min(text.size(), kLook));
  return speedscope::has_schema(beginning) || speedscope::has_schema(end) ? Likeness::kCertain
                                                                          : Likeness::kNone;
}

Result<Imported> import_speedscope(std::span<const Input> inputs, const ImportOptions&,
                                   Target& target) {
  const Input& input = inputs.front();
  RINGSIDE_ASSIGN(speedscope::File file, speedscope::read_file(input));
  const bool has_other_schema = !file.schema.empty() && file.schema != speedscope::kSchema;
  if (has_other_schema || (file.schema.empty() && !file.damage))
    return fail(ErrorCode::kFormat,
                "{}: no file of speedscope as it is since its version 1: \"$schema\" is not {}. "
                "Open it in speedscope and export it again",
                input.name, speedscope::kSchema);
  if (!file.has_profiles && !file.damage)
    return fail(ErrorCode::kFormat, "{}: there is no array \"profiles\" in it", input.name);
  return speedscope::Recorder(input, file, target).run();
}

}  // namespace ringside::importers
