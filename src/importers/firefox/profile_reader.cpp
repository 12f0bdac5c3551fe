#include <algorithm>
#include <cmath>
#include <limits>

#include "importers/firefox/profile_fields.h"
#include "importers/parts/json_stacks.h"

namespace ringside::importers::firefox {
namespace {

constexpr std::size_t kBytesOfThread = 2 << 10;
constexpr std::size_t kBytesOfTables = 6 << 10;
constexpr long double kNanoseconds = 1e6L;  // in a millisecond

std::string short_text(const JsonValue& value) {
  return std::string(value.string.substr(0, TextColumn::kLongest));
}

// A pid or tid, which may be a number or a text.
std::string number_text(const JsonValue& value) {
  if (value.type == JsonValue::Type::kInteger) return std::to_string(value.integer);
  return short_text(value);
}

class ProfileReader final : public JsonVisitor {
 public:
  explicit ProfileReader(const Input& input) : input_(input), reader_(input) {}

  Result<Profile> read() {
    profile_.damage = reader_.read(profile_fields(), *this);
    RINGSIDE_TRY(result_);
    return std::move(profile_);
  }

  bool begin(JsonState state) override {
    switch (state) {
      case kLibrary:
        profile_.libraries.emplace_back();
        return take(sizeof(Library));
      case kCategory:
        profile_.meta.categories.emplace_back();
        return take(sizeof(std::string));
      case kShared:
        in_thread_ = false;
        return true;
      case kThreads:
        profile_.has_threads = true;
        return true;
      case kThread:
        in_thread_ = true;
        profile_.threads.emplace_back();
        ++profile_.thread_count;
        return take(kBytesOfThread);
      default:
        if (state >= kSamples && state <= kLastSamples) begin_samples(state);
        return true;
    }
  }

  bool end(JsonState state) override {
    if (state == kThread && !has_samples(thread())) profile_.threads.pop_back();
    return state != kMeta || check_version();
  }

  bool value(JsonState state, const JsonValue& value) override {
    if (state >= kIndex) return add_index(index_columns()[state - kIndex].column, value);
    if (state >= kSampleStacks) return column_value(state, value);
    if (state == kString) return take_if(tables().strings.add(value.string, profile_.budget));
    if (state >= kLibraries) return other_value(state, value);
    return meta_value(state, value);
  }

 private:
  bool take_if(bool has_room) {
    if (!has_room)
      result_ = fail(ErrorCode::kUnsupported, "{}: {}", input_.name, profile_.budget.reason());
    return has_room;
  }
  bool take(std::size_t bytes) { return take_if(profile_.budget.take(bytes)); }
  void fault(const char* reason) { profile_.faults.add(reader_.place(), reason); }

  static bool has_samples(const Thread& thread) {
    return std::any_of(thread.samples.begin(), thread.samples.end(),
                       [](const Samples& samples) { return samples.size() != 0; });
  }

  [[nodiscard]] Thread& thread() { return profile_.threads.back(); }

  // Where a column belongs. A thread gets tables of its own when it has a value for them.
  [[nodiscard]] Tables& tables() {
    if (!in_thread_) return profile_.shared;
    if (thread().tables == nullptr) {
      thread().tables = std::make_unique<Tables>();
      take(kBytesOfTables);
    }
    return *thread().tables;
  }

  void begin_samples(JsonState state) {
    samples_ = &thread().samples[state - kSamples];
    if (state != kSamples) samples_->type = WeightType::kBytes;
    time_ms_ = 0;
  }

  bool check_version() {
    const Meta& meta = profile_.meta;
    if (!meta.version && meta.raw_version)
      result_ = fail(ErrorCode::kUnsupported,
                     "{}: a raw profile (version {}), as Firefox records it: open it in "
                     "profiler.firefox.com and save it there",
                     input_.name, *meta.raw_version);
    else if (meta.version && *meta.version < kOldestVersion)
      result_ = fail(ErrorCode::kUnsupported,
                     "{}: a processed profile of version {}; {} to {} can be read: open it in "
                     "profiler.firefox.com and save it there",
                     input_.name, *meta.version, kOldestVersion, kNewestVersion);
    else if (meta.version && *meta.version > kNewestVersion)
      result_ = fail(ErrorCode::kUnsupported,
                     "{}: a processed profile of version {}, which is newer than {}, the last one "
                     "that can be read",
                     input_.name, *meta.version, kNewestVersion);
    return result_.has_value();
  }

  bool meta_value(JsonState state, const JsonValue& value) {
    Meta& meta = profile_.meta;
    switch (state) {
      case kVersion:
        meta.version = value.index();
        break;
      case kRawVersion:
        meta.raw_version = value.index();
        break;
      case kProduct:
        meta.product = short_text(value);
        break;
      case kPlatform:
        meta.platform = short_text(value);
        break;
      case kArguments:
        meta.arguments = short_text(value);
        break;
      case kInterval:
        meta.interval_ms = value.real;
        break;
      case kStartTime:
        meta.start_ms = value.real;
        break;
      case kMonotonicStart:
        meta.monotonic_ns = value.real;
        break;
      case kCpus:
        meta.cpus = value.index().value_or(0);
        break;
      case kTimeUnit:
        meta.time_is_bytes = value.string == "bytes";
        break;
      case kCategoryName:
        return set(meta.categories.back(), short_text(value));
      case kCategory:  // keeps its number
        meta.categories.emplace_back();
        return take(sizeof(std::string));
      default:
        break;
    }
    return true;
  }

  bool other_value(JsonState state, const JsonValue& value) {
    switch (state) {
      case kLibraryName:
        return set(profile_.libraries.back().name, short_text(value));
      case kLibraryPath:
        return set(profile_.libraries.back().path, short_text(value));
      case kLibraryArch:
        return set(profile_.libraries.back().arch, short_text(value));
      case kLibraryCodeId:
        return set(profile_.libraries.back().code_id, short_text(value));
      case kThreadName:
        return set(thread().name, short_text(value));
      case kProcessName:
        return set(thread().process, short_text(value));
      case kPid:
        return set(thread().pid, number_text(value));
      case kTid:
        return set(thread().tid, number_text(value));
      case kLibrary:  // keeps its number
        profile_.libraries.emplace_back();
        return take(sizeof(Library));
      case kThread:
        fault("a thread is an object");
        return true;
      default:
        return true;
    }
  }

  bool set(std::string& text, std::string value) {
    text = std::move(value);
    return take(text.size());
  }

  bool add_index(Column<std::uint32_t> Tables::*column, const JsonValue& value) {
    const std::size_t more = column == &Tables::stack_frames ? StackMaker::kBytesOfNode : 0;
    return take_if(add_to(tables().*column, value.index().value_or(kNoIndex), profile_.budget) &&
                   profile_.budget.take(more));
  }

  bool column_value(JsonState state, const JsonValue& value) {
    switch (state) {
      case kParent:
        return add_parent(value.is_null() ? kNoIndex : value.index().value_or(kBadIndex));
      case kParentOffset:
        return add_parent_at(value.index());
      case kAddress:
        return take_if(
            add_to(tables().frame_addresses,
                   value.type == JsonValue::Type::kInteger ? value.integer : std::int64_t{-1},
                   profile_.budget));
      case kSampleStack:
        return take_if(add_to(samples_->stacks,
                              value.is_null() ? kNoIndex : value.index().value_or(kBadIndex),
                              profile_.budget));
      case kSampleTime:
        return add_time(value.real);
      case kTimeDelta:
        time_ms_ += value.real;
        return add_time(time_ms_);
      case kWeight:
        if (!value.is_number()) fault("a weight is a number");
        return take_if(add_to(samples_->weights, value.real, profile_.budget));
      case kWeightType:
        samples_->type = value.string == "tracing-ms" ? WeightType::kTime
                         : value.string == "bytes"    ? WeightType::kBytes
                                                      : WeightType::kSamples;
        return true;
      default:
        return true;
    }
  }

  bool add_parent(std::uint32_t parent) {
    return take_if(add_to(tables().stack_parents, parent, profile_.budget));
  }
  bool add_parent_at(std::optional<std::uint32_t> offset) {
    const std::size_t stack = tables().stack_parents.size();
    if (!offset || *offset > stack) return add_parent(kBadIndex);
    return add_parent(*offset == 0 ? kNoIndex : static_cast<std::uint32_t>(stack - *offset));
  }

  bool add_time(long double ms) {
    constexpr long double kMost = 4e18L;
    const std::int64_t last =
        samples_->times.empty() ? std::numeric_limits<std::int64_t>::min() : samples_->times.back();
    const bool fits = std::abs(ms * kNanoseconds) < kMost;
    std::int64_t time = fits ? std::llround(ms * kNanoseconds) : std::max<std::int64_t>(last, 0);
    if (!fits || time < last) {
      fault("the time of a sample is before that of the one in front of it, or far away");
      time = std::max(time, last);
    }
    return take_if(add_to(samples_->times, time, profile_.budget));
  }

  const Input& input_;
  JsonReader reader_;
  Result<void> result_;
  Profile profile_;
  bool in_thread_ = false;      // else in `shared`
  Samples* samples_ = nullptr;  // those at hand
  long double time_ms_ = 0;     // sum of their deltas
};

}  // namespace

Result<Profile> read_profile(const Input& input) { return ProfileReader(input).read(); }

}  // namespace ringside::importers::firefox
