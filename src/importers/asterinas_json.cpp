#include "importers/asterinas_json.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/whole_number.h"
#include "importers/parts/event_numbers.h"
#include "importers/parts/faults.h"
#include "importers/parts/json_reader.h"
#include "importers/parts/json_stacks.h"
#include "importers/parts/stack_budget.h"

namespace ringside::importers {
namespace {

using recording::RecordedFrame;

enum State : JsonState { kFile = kJsonDocument, kCaptures, kCapture, kCpu, kFrame };

constexpr std::array<JsonField, 4> kFields = {{{kFile, "stack_traces", kCaptures},
                                               {kCaptures, "[]", kCapture},
                                               {kCapture, "*", kCpu},
                                               {kCpu, "[]", kFrame}}};

constexpr std::string_view kUnknownFrame = "??";
constexpr std::size_t kLongestName = 16 << 10;    // bytes; longer ones are cut
constexpr std::size_t kMostNameBytes = 32 << 20;  // of names that are kept to be found again

class AsterinasImport final : public JsonVisitor {
 public:
  AsterinasImport(const Input& input, Target& target)
      : input_(input), target_(target), reader_(input) {}

  Result<Imported> run() {
    const auto damage = reader_.read(kFields, *this);
    RINGSIDE_TRY(result_);
    if (damage && writer_ == nullptr) return failed_by(*damage, input_.name);
    if (!has_captures_)
      return fail(ErrorCode::kFormat,
                  "{}: no JSON of Asterinas' profiler: there is no array \"stack_traces\" in it",
                  input_.name);
    if (writer_ == nullptr)
      return fail(ErrorCode::kFormat, "{}: none of its {} captures has a stack{}", input_.name,
                  captures_, faults_.count() == 0 ? "" : "; " + faults_.first());
    Imported imported{samples_, {}};
    if (faults_.count() != 0) imported.warnings.push_back(faults_.sentence(input_.name, "stacks"));
    if (cut_stacks_ != 0)
      imported.warnings.push_back(cut_stacks_sentence(input_.name, cut_stacks_));
    if (damage)
      imported.warnings.push_back(fmt::format("{}: the rest is left out, from {}: {}", input_.name,
                                              damage->at, damage->reason));
    for (const std::string& warning : imported.warnings)
      RINGSIDE_TRY(writer_->add_warning(warning));
    recording::Statistics statistics;
    statistics.due = samples_ + skipped_;
    RINGSIDE_TRY(writer_->add_statistics(statistics));
    return imported;
  }

  bool begin(JsonState state) override {
    switch (state) {
      case kCaptures:
        has_captures_ = true;
        return true;
      case kCapture:
        cpus_.clear();
        return true;
      case kCpu:
        names_.clear();
        is_cut_ = false;
        fault_.clear();
        if (name_bytes_ > kMostNameBytes) forget_names();
        return true;
      default:
        return true;
    }
  }

  bool end(JsonState state) override {
    if (state == kCapture) return end_capture();
    if (state != kCpu) return true;
    if (!cpu_)
      fault_ = "a CPU's key is a number below 65535";
    else if (fault_.empty() && !cpus_.insert(*cpu_).second)
      fault_ = fmt::format("CPU {} is there already in capture {}", *cpu_, captures_);
    if (!fault_.empty()) {
      faults_.add(reader_.place(), fault_);
      return true;
    }
    result_ = add_sample();
    return result_.has_value();
  }

  bool name(JsonState, std::string_view name) override {
    cpu_ = whole_number<std::uint16_t>(name);
    if (cpu_ == recording::kNoVcpu.value) cpu_.reset();
    return true;
  }

  bool value(JsonState state, const JsonValue& value) override {
    switch (state) {
      case kCapture:
        faults_.add(reader_.place(), "a capture is an object with the stacks of CPUs");
        cpus_.clear();
        return end_capture();
      case kCpu:
        faults_.add(reader_.place(), "a CPU's stack is an array of names");
        return true;
      case kFrame:
        add_frame(value);
        return true;
      default:
        return true;
    }
  }

 private:
  // A name that stacks have, and its text in the recording; 0: none yet.
  using Name = std::pair<const std::string, std::uint32_t>;

  // A capture without a stack is a tick all the same, which took nothing.
  bool end_capture() {
    if (cpus_.empty() && writer_ != nullptr) result_ = add_skipped(captures_);
    ++captures_;
    return result_.has_value();
  }

  Result<void> add_skipped(std::uint64_t capture) {
    recording::SampleInfo info;
    info.time_ns = capture;
    info.vcpu = recording::kNoVcpu;
    info.disposition = wire::Disposition::kSkipped;
    ++skipped_;
    return writer_->add_sample(info, {}, {});
  }

  void add_frame(const JsonValue& value) {
    if (!value.is_string())
      fault_ = "a frame is a name";
    else if (names_.size() == kMostStackFrames)
      is_cut_ = true;
    else if (fault_.empty())
      names_.push_back(&name_of(value.string.substr(0, kLongestName)));
  }

  Name& name_of(std::string_view text) {
    const auto [entry, added] = texts_.try_emplace(std::string(text), 0);
    if (added) name_bytes_ += text.size() + sizeof(Name);
    return *entry;
  }

  void forget_names() {
    texts_.clear();
    name_bytes_ = 0;
  }

  Result<RecordedFrame> frame_of(Name& name) {
    RecordedFrame frame;
    frame.exact = true;
    frame.kind = FrameKind::kCode;
    if (name.first == kUnknownFrame) return frame;
    if (name.second == 0) {
      RINGSIDE_ASSIGN(name.second, writer_->add_text(budget_.bounded(name.first)));
      budget_.add_frame();
    }
    frame.function = name.second;
    return frame;
  }

  Result<void> create() {
    if (writer_ != nullptr) return {};
    recording::Header header;
    header.engine = "asterinas-json";
    recording::Source source;
    source.name = recording::kCpuSourceName;
    source.clock = kEventNumbers;
    source.period = 1;
    source.engine = header.engine;
    source.values = {{"ticks", recording::WeightUnit::kTicks, 1}};
    RINGSIDE_ASSIGN(writer_, target_.create(std::move(header), {source}));
    RINGSIDE_TRY(add_event_numbers(*writer_));
    for (std::uint64_t capture = 0; capture < captures_; ++capture)
      RINGSIDE_TRY(add_skipped(capture));
    return {};
  }

  Result<void> add_sample() {
    RINGSIDE_TRY(create());
    if (!budget_.has_room()) {
      faults_.add(reader_.place(), StackBudget::kReason);
      return {};
    }
    frames_.clear();
    for (Name* const name : names_) {
      RINGSIDE_ASSIGN(const RecordedFrame frame, frame_of(*name));
      frames_.push_back(frame);
    }
    recording::SampleInfo info;
    info.time_ns = captures_;
    info.vcpu = VcpuId{*cpu_};
    recording::StackRef stack = writer_->add_stack(frames_);
    budget_.add_stack(stack);
    if (is_cut_) stack.stop = StopReason::kTooDeep;
    if (is_cut_) ++cut_stacks_;
    ++samples_;
    return writer_->add_sample(info, {&stack, 1}, {});
  }

  const Input& input_;
  Target& target_;
  JsonReader reader_;
  recording::Writer* writer_ = nullptr;
  Result<void> result_;
  Faults faults_;
  StackBudget budget_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::size_t name_bytes_ = 0;  // of these
  bool has_captures_ = false;
  std::uint64_t captures_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t skipped_ = 0;  // captures without a stack
  std::uint64_t cut_stacks_ = 0;
  std::set<std::uint16_t> cpus_;       // of the capture at hand
  std::optional<std::uint16_t> cpu_;   // of the stack at hand; none: its key was not read
  std::vector<Name*> names_;           // of the stack at hand, leaf first
  bool is_cut_ = false;                // it has more frames
  std::string fault_;                  // why it is left out
  std::vector<RecordedFrame> frames_;  // reused
};

}  // namespace

Likeness asterinas_json_likeness(const Input& input, const ImportOptions&) {
  constexpr std::size_t kBeginning = 4096;
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string_view text = input.text().substr(0, kBeginning);
  const auto skip = [&](std::string_view what) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    const bool is_there = text.starts_with(what);
    if (is_there) text.remove_prefix(what.size());
    return is_there;
  };
  return skip("{") && skip("\"stack_traces\"") && skip(":") ? Likeness::kCertain : Likeness::kNone;
}

Result<Imported> import_asterinas_json(std::span<const Input> inputs, const ImportOptions&,
                                       Target& target) {
  return AsterinasImport(inputs.front(), target).run();
}

}  // namespace ringside::importers
