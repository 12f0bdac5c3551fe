#include "importers/folded_recording.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "base/split.h"
#include "importers/folded_line.h"
#include "importers/folded_survey.h"
#include "importers/folded_text.h"
#include "importers/frame_names.h"
#include "importers/parts/event_numbers.h"
#include "importers/parts/faults.h"
#include "importers/parts/stack_budget.h"
#include "profile/profile.h"

namespace ringside::importers {
namespace {

using recording::RecordedFrame;

constexpr const char* kFormat = "folded";
constexpr std::size_t kMostKnownBytes = 64 << 20;  // of names that are kept to be found again

class FoldedImport {
 public:
  FoldedImport(const Input& input, Target& target) : input_(input), target_(target) {}

  Result<Imported> run() {
    RINGSIDE_ASSIGN(survey_, survey_folded(input_));
    LinesReleased released(input_);
    for (std::string_view rest = input_.text(); !rest.empty(); released.read_all_but(rest.size())) {
      ++line_;
      RINGSIDE_TRY(take(take_line(rest)));
    }
    if (writer_ == nullptr)
      return fail(ErrorCode::kFormat, "{}: no count can be read: {}", input_.name, faults_.first());
    return finish();
  }

 private:
  Result<Imported> finish() {
    Imported imported{samples_, {}};
    if (const std::string scale = survey_.scale_sentence(); !scale.empty())
      imported.warnings.push_back(fmt::format("{}: {}", input_.name, scale));
    if (faults_.count() != 0) imported.warnings.push_back(faults_.sentence(input_.name, "lines"));
    for (const std::string& warning : imported.warnings)
      RINGSIDE_TRY(writer_->add_warning(warning));
    recording::Statistics statistics;
    statistics.due = samples_;
    RINGSIDE_TRY(writer_->add_statistics(statistics));
    return imported;
  }

  Result<void> take(std::string_view text) {
    if (text.empty() || is_folded_comment(text)) return {};
    const auto line = parse_folded_line(text);
    if (!line) {
      fault("it is no folded stack, such as 'main;read;copy 12'");
      return {};
    }
    const auto count = scaled_count(*line, survey_.scale);
    if (!count || profile::extent_of(*count) > extent_left_) {
      fault("the sum of all counts would be too large");
      return {};
    }
    RINGSIDE_TRY(create());
    if (!budget_.has_room()) {
      fault(StackBudget::kReason);
      return {};
    }
    extent_left_ -= profile::extent_of(*count);
    return add(line->stack, *count);
  }

  Result<void> add(std::string_view frames, std::int64_t count) {
    RINGSIDE_TRY(take_frames(frames));
    recording::StackRef stack = writer_->add_stack(stack_);
    if (is_cut_) stack.stop = StopReason::kTruncated;
    budget_.add_stack(stack);
    recording::SampleInfo info;
    info.time_ns = samples_++;
    info.vcpu = recording::kNoVcpu;
    info.weight = static_cast<std::uint64_t>(count);
    return writer_->add_sample(info, {&stack, 1}, {});
  }

  // Leaf first.
  Result<void> take_frames(std::string_view stack) {
    stack_.clear();
    is_cut_ = false;
    if (known_bytes_ > kMostKnownBytes) {
      names_ = {};
      frames_.clear();
      known_bytes_ = 0;
    }
    for (std::size_t end = stack.size();;) {
      const std::size_t separator = end == 0 ? std::string_view::npos : stack.rfind(';', end - 1);
      const std::size_t begin = separator == std::string_view::npos ? 0 : separator + 1;
      const std::uint32_t known = names_.find(stack.substr(begin, end - begin), [&] {
        frames_.emplace_back();
        return static_cast<std::uint32_t>(frames_.size() - 1);
      });
      if (frames_[known].function == 0)
        RINGSIDE_TRY(name(frames_[known], stack.substr(begin, end - begin)));
      stack_.push_back(frames_[known]);
      if (separator == std::string_view::npos) return {};
      is_cut_ = stack_.size() == kMostStackFrames;
      if (is_cut_) return {};
      end = separator;
    }
  }

  Result<void> name(RecordedFrame& frame, std::string_view text) {
    const FoldedFrame parts = parse_folded_frame(text);
    budget_.add_frame();
    known_bytes_ += text.size();
    frame.kind = parts.kind;
    frame.inlined = parts.inlined;
    frame.exact = true;
    RINGSIDE_ASSIGN(frame.function, writer_->add_text(budget_.bounded(parts.name)));
    return {};
  }

  Result<void> create() {
    if (writer_ != nullptr) return {};
    recording::Header header;
    header.engine = kFormat;
    recording::Source source;
    source.name = "samples";
    source.kind = recording::SourceKind::kOther;
    source.clock = kEventNumbers;
    source.period = 1;
    source.engine = kFormat;
    // Counts that were multiplied are no numbers of samples.
    source.values = {survey_.scale == 1
                         ? recording::ValueType{"samples", recording::WeightUnit::kSamples, 1}
                         : recording::ValueType{"counts", recording::WeightUnit::kCount, 1}};
    RINGSIDE_ASSIGN(writer_, target_.create(std::move(header), {source}));
    RINGSIDE_TRY(add_event_numbers(*writer_));
    return {};
  }

  void fault(const char* reason) { faults_.add(fmt::format("line {}", line_), reason); }

  const Input& input_;
  Target& target_;
  FoldedSurvey survey_;
  recording::Writer* writer_ = nullptr;
  Faults faults_;
  StackBudget budget_;
  FrameNames names_;  // numbers in frames_
  std::vector<RecordedFrame> frames_;
  std::size_t known_bytes_ = 0;       // of names
  std::vector<RecordedFrame> stack_;  // of the line at hand
  bool is_cut_ = false;
  std::uint64_t line_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t extent_left_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

Likeness folded_likeness(const Input& input, const ImportOptions&) {
  return is_folded_text(input.bytes) ? Likeness::kFits : Likeness::kNone;
}

Result<Imported> import_folded(std::span<const Input> inputs, const ImportOptions&,
                               Target& target) {
  return FoldedImport(inputs.front(), target).run();
}

}  // namespace ringside::importers
