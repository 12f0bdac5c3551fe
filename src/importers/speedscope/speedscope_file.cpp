#include "importers/speedscope/speedscope_file.h"

#include <algorithm>
#include <array>

#include "importers/parts/json_stacks.h"

namespace ringside::importers::speedscope {
namespace {

enum State : JsonState {
  kFile = kJsonDocument,
  kFileSchema,
  kExporter,
  kFileName,
  kActive,
  kShared,
  kFrames,
  kFrame,
  kFrameName,
  kFrameFile,
  kFrameLine,
  kProfiles,
  kProfile,
  kName,
  kUnit,
  kStart,
  kEnd,
  kSamples,
  kSample,
  kSampleFrame,
  kWeights,
  kWeight,
  kEvents,
  kEvent,
  kEventType,
  kEventFrame,
  kEventAt
};

constexpr std::array<JsonField, 26> kFields = {
    {{kFile, "$schema", kFileSchema},  {kFile, "exporter", kExporter},
     {kFile, "name", kFileName},       {kFile, "activeProfileIndex", kActive},
     {kFile, "shared", kShared},       {kFile, "profiles", kProfiles},
     {kShared, "frames", kFrames},     {kFrames, "[]", kFrame},
     {kFrame, "name", kFrameName},     {kFrame, "file", kFrameFile},
     {kFrame, "line", kFrameLine},     {kProfiles, "[]", kProfile},
     {kProfile, "name", kName},        {kProfile, "unit", kUnit},
     {kProfile, "startValue", kStart}, {kProfile, "endValue", kEnd},
     {kProfile, "samples", kSamples},  {kProfile, "weights", kWeights},
     {kProfile, "events", kEvents},    {kSamples, "[]", kSample},
     {kSample, "[]", kSampleFrame},    {kWeights, "[]", kWeight},
     {kEvents, "[]", kEvent},          {kEvent, "type", kEventType},
     {kEvent, "frame", kEventFrame},   {kEvent, "at", kEventAt}}};

constexpr std::size_t kBytesOfStack = 40 + StackMaker::kBytesOfNode;
constexpr std::size_t kBytesOfProfile = 1 << 10;
constexpr std::size_t kDeepest = 1024;  // calls that are open; those inside of them are left out

// The calls of an evented profile that are open.
class OpenCalls {
 public:
  explicit OpenCalls(PairTable& stacks) : stacks_(stacks) {}

  void clear() {
    calls_.clear();
    too_deep_ = 0;
  }
  [[nodiscard]] bool empty() const { return calls_.empty(); }
  // kNoIndex: none is open.
  [[nodiscard]] std::uint32_t stack() const { return calls_.empty() ? kNoIndex : calls_.back(); }

  void open(std::uint32_t frame) {
    if (calls_.size() == kDeepest)
      ++too_deep_;
    else
      calls_.push_back(stacks_.intern(stack() + 1, frame));
  }
  // Closes calls up to the innermost one of that frame. False where it is not the innermost of all.
  [[nodiscard]] bool close(std::uint32_t frame) {
    if (too_deep_ != 0) {
      --too_deep_;
      return true;
    }
    const auto call = std::find_if(calls_.rbegin(), calls_.rend(), [&](std::uint32_t stack) {
      return stacks_.second(stack) == frame;
    });
    if (call == calls_.rend()) return false;
    const bool is_innermost = call == calls_.rbegin();
    calls_.erase(std::prev(call.base()), calls_.end());
    return is_innermost;
  }

 private:
  PairTable& stacks_;
  std::vector<std::uint32_t> calls_;  // their stacks
  std::uint64_t too_deep_ = 0;
};

// Finds the stacks of samples, outermost frame first. Frames that a stack has in common with the
// one before are not looked up again.
class StackFinder {
 public:
  explicit StackFinder(PairTable& stacks) : stacks_(stacks) {}

  void begin() { depth_ = 0; }
  void add(std::uint32_t frame) {
    if (depth_ < last_.size() && last_[depth_].frame == frame) {
      ++depth_;
      return;
    }
    const std::uint32_t above = stack();
    last_.resize(depth_);
    last_.push_back({frame, stacks_.intern(above + 1, frame)});
    ++depth_;
  }
  // kNoIndex: it has no frame.
  [[nodiscard]] std::uint32_t stack() const {
    return depth_ == 0 ? kNoIndex : last_[depth_ - 1].stack;
  }

 private:
  struct Level {
    std::uint32_t frame = 0;
    std::uint32_t stack = 0;
  };
  PairTable& stacks_;
  std::vector<Level> last_;
  std::size_t depth_ = 0;
};

class FileReader final : public JsonVisitor {
 public:
  explicit FileReader(const Input& input)
      : input_(input), reader_(input), stack_(file_.stacks), open_(file_.stacks) {}

  Result<File> read() {
    file_.damage = reader_.read(kFields, *this);
    if (!has_room_)
      return fail(ErrorCode::kUnsupported, "{}: {}", input_.name, file_.budget.reason());
    return std::move(file_);
  }

  bool begin(JsonState state) override {
    switch (state) {
      case kProfiles:
        file_.has_profiles = true;
        return true;
      case kProfile:
        return begin_profile();
      case kFrame:
        name_.clear();
        source_.clear();
        line_ = 0;
        return true;
      case kSample:
        stack_.begin();
        is_bad_ = false;
        return true;
      case kEvent:
        type_ = {};
        frame_ = kNoIndex;
        at_.reset();
        return true;
      default:
        return true;
    }
  }

  bool end(JsonState state) override {
    switch (state) {
      case kFrame:
        return keep(file_.frame_names.add(name_, file_.budget) &&
                    file_.frame_files.add(source_, file_.budget) &&
                    add_to(file_.frame_lines, line_, file_.budget));
      case kSample:
        return keep(add_to(profile().stacks, is_bad_ ? kBadStack : stack_.stack(), file_.budget));
      case kEvent:
        return end_event();
      case kProfile:
        return end_profile();
      default:
        return true;
    }
  }

  bool value(JsonState state, const JsonValue& value) override {
    switch (state) {
      case kFileSchema:
        file_.schema = value.string;
        return true;
      case kExporter:
        file_.exporter = value.string;
        return true;
      case kFileName:
        file_.name = value.string;
        return true;
      case kActive:
        file_.active = value.index().value_or(0);
        return true;
      case kFrame:  // keeps its number
        return fault("a frame is an object with a name") &&
               keep(file_.frame_names.add("", file_.budget) &&
                    file_.frame_files.add("", file_.budget) &&
                    add_to(file_.frame_lines, 0u, file_.budget));
      case kFrameName:
        name_ = value.string;
        return true;
      case kFrameFile:
        source_ = value.string;
        return true;
      case kFrameLine:
        line_ = value.index().value_or(0);
        return true;
      default:
        return profile_value(state, value);
    }
  }

 private:
  static constexpr std::uint32_t kBadStack = kNoIndex - 1;

  bool keep(bool has_room) {
    has_room_ = has_room;
    return has_room;
  }
  bool fault(const char* reason) {
    file_.faults.add(reader_.place(), reason);
    return true;
  }
  [[nodiscard]] Profile& profile() { return file_.profiles.back(); }

  bool profile_value(JsonState state, const JsonValue& value) {
    switch (state) {
      case kProfile:
        return fault("a profile is an object");
      case kName:
        return set(profile().name, value.string);
      case kUnit:
        return set(profile().unit, value.string);
      case kStart:
        profile().start = value.real;
        return true;
      case kEnd:
        end_value_ = value.is_number() ? std::optional(value.real) : std::nullopt;
        return true;
      case kSample:  // keeps its number
        return fault("a sample is an array of frames") &&
               keep(add_to(profile().stacks, kBadStack, file_.budget));
      case kSampleFrame:
        return add_frame(value);
      case kWeight:
        if (!value.is_number()) fault("a weight is a number");
        return keep(add_to(profile().weights, value.real, file_.budget));
      case kEvent:
        return fault("an event is an object");
      case kEventType:
        type_ = value.string.size() == 1 ? value.string.front() : '\0';
        return true;
      case kEventFrame:
        frame_ = value.index().value_or(kNoIndex);
        return true;
      case kEventAt:
        at_ = value.is_number() ? std::optional(value.real) : std::nullopt;
        return true;
      default:
        return true;
    }
  }

  bool set(std::string& text, std::string_view value) {
    text = value.substr(0, TextColumn::kLongest);
    return keep(file_.budget.take(2 * text.size()));  // a thread's name, too
  }

  bool begin_profile() {
    file_.profiles.emplace_back();
    profile().number = ++file_.profile_count;
    open_.clear();
    last_.reset();
    end_value_.reset();
    return keep(file_.budget.take(kBytesOfProfile));
  }

  bool end_profile() {
    bool has_room = true;
    if (!open_.empty()) {
      fault("the profile ends inside of a call");
      has_room = !end_value_ || count_until(*end_value_);
    } else if (!profile().is_evented() && profile().stacks.size() != profile().weights.size()) {
      fault("the profile has not as many weights as samples");
    }
    if (profile().size() == 0) file_.profiles.pop_back();
    return has_room;
  }

  // The next frame of a sample, outermost first.
  bool add_frame(const JsonValue& value) {
    const auto frame = value.index();
    if (!frame && !is_bad_) fault("a frame of a sample is the number of a shared frame");
    is_bad_ = is_bad_ || !frame;
    if (is_bad_) return true;
    const std::size_t known = file_.stacks.size();
    stack_.add(*frame);
    return file_.stacks.size() == known || keep(file_.budget.take(kBytesOfStack));
  }

  bool end_event() {
    if ((type_ != 'O' && type_ != 'C') || frame_ == kNoIndex || !at_)
      return fault("an event has a type O or C, a frame, and at");
    if (last_ && *at_ < *last_) {
      fault("an event is before the one in front of it");
      at_ = last_;
    }
    if (!count_until(*at_)) return false;
    const std::size_t known = file_.stacks.size();
    if (type_ == 'O')
      open_.open(frame_);
    else if (!open_.close(frame_))
      fault("an event closes a frame that is not the innermost open one");
    return file_.stacks.size() == known || keep(file_.budget.take(kBytesOfStack));
  }

  // The code that ran since the last event.
  bool count_until(double at) {
    const double since = last_.value_or(at);
    last_ = at;
    if (open_.empty() || !(at > since)) return true;
    return keep(add_to(profile().stacks, open_.stack(), file_.budget) &&
                add_to(profile().weights, at - since, file_.budget) &&
                add_to(profile().starts, since, file_.budget));
  }

  const Input& input_;
  JsonReader reader_;
  bool has_room_ = true;
  File file_;

  std::string name_;  // of the frame at hand
  std::string source_;
  std::uint32_t line_ = 0;

  StackFinder stack_;  // of the sample at hand
  bool is_bad_ = false;

  char type_ = '\0';  // of the event at hand
  std::uint32_t frame_ = kNoIndex;
  std::optional<double> at_;

  OpenCalls open_;
  std::optional<double> last_;  // where the last event was
  std::optional<double> end_value_;
};

}  // namespace

Result<File> read_file(const Input& input) { return FileReader(input).read(); }

}  // namespace ringside::importers::speedscope
