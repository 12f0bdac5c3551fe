#include "importers/folded_recording.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "base/split.h"
#include "importers/folded_line.h"
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
constexpr std::size_t kReleaseEvery = 16 << 20;    // bytes
constexpr std::size_t kMostKnownBytes = 64 << 20;  // of names that are kept to be found again

// Gives back the memory of what was read, now and then.
class Releaser {
 public:
  explicit Releaser(const Input& input) : input_(input), released_(input.bytes.size()) {}
  void read_all_but(std::size_t left) {
    if (!input_.release || released_ - left < kReleaseEvery) return;
    released_ = left;
    input_.release();
  }

 private:
  const Input& input_;
  std::size_t released_;  // bytes that were not read then
};

// Whether no line that is a stack has one count only. Mostly the first one shows that it is not so.
bool has_only_two_counts(const Input& input) {
  Releaser releaser(input);
  bool has_stacks = false;
  for (std::string_view rest = input.text(); !rest.empty(); releaser.read_all_but(rest.size())) {
    const auto line = parse_folded_line(take_line(rest));
    if (line && !has_two_counts(*line)) return false;
    has_stacks |= line.has_value();
  }
  return has_stacks;
}

class FoldedImport {
 public:
  FoldedImport(const Input& input, Target& target) : input_(input), target_(target) {}

  Result<Imported> run() {
    if (has_only_two_counts(input_))
      return fail(ErrorCode::kFormat,
                  "{}: each line has two counts, as a difference of two profiles has: give the "
                  "folded stacks of one of them",
                  input_.name);
    Releaser releaser(input_);
    for (std::string_view rest = input_.text(); !rest.empty(); releaser.read_all_but(rest.size())) {
      ++line_;
      RINGSIDE_TRY(take(take_line(rest)));
    }
    if (writer_ == nullptr)
      return fail(ErrorCode::kFormat,
                  "{}: no line is a folded stack, such as 'main;read;copy 12'{}", input_.name,
                  faults_.count() == 0 ? "" : "; " + faults_.first());
    return finish();
  }

 private:
  Result<Imported> finish() {
    Imported imported{samples_, {}};
    if (faults_.count() != 0) imported.warnings.push_back(faults_.sentence(input_.name, "lines"));
    for (const std::string& warning : imported.warnings)
      RINGSIDE_TRY(writer_->add_warning(warning));
    recording::Statistics statistics;
    statistics.due = samples_;
    RINGSIDE_TRY(writer_->add_statistics(statistics));
    return imported;
  }

  Result<void> take(std::string_view text) {
    if (text.empty()) return {};
    const auto line = parse_folded_line(text);
    if (!line) {
      fault("it is no folded stack, such as 'main;read;copy 12'");
      return {};
    }
    const std::uint64_t extent = profile::extent_of(line->count);
    if (extent > extent_left_) {
      fault("the sum of all counts would be too large");
      return {};
    }
    RINGSIDE_TRY(create());
    if (!budget_.has_room()) {
      fault(StackBudget::kReason);
      return {};
    }
    extent_left_ -= extent;
    return add(*line);
  }

  Result<void> add(const FoldedLine& line) {
    RINGSIDE_TRY(take_frames(line.stack));
    recording::StackRef stack = writer_->add_stack(stack_);
    if (is_cut_) stack.stop = StopReason::kTruncated;
    budget_.add_stack(stack);
    recording::SampleInfo info;
    info.time_ns = samples_++;
    info.vcpu = recording::kNoVcpu;
    info.weight = static_cast<std::uint64_t>(line.count);
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
    source.values = {{"samples", recording::WeightUnit::kSamples, 1}};
    RINGSIDE_ASSIGN(writer_, target_.create(std::move(header), {source}));
    RINGSIDE_TRY(add_event_numbers(*writer_));
    return {};
  }

  void fault(const char* reason) { faults_.add(fmt::format("line {}", line_), reason); }

  const Input& input_;
  Target& target_;
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
