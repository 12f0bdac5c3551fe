#include "importers/perf_script/perf_script.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "importers/parts/event_numbers.h"
#include "importers/parts/faults.h"
#include "importers/perf_script/comments.h"
#include "importers/perf_script/frame_line.h"
#include "importers/perf_script/header_line.h"
#include "importers/perf_script/owners.h"
#include "importers/perf_script/sample_block.h"
#include "importers/perf_script/script_text.h"
#include "importers/perf_script/sources.h"
#include "importers/perf_script/stacks.h"

namespace ringside::importers {
namespace {

using namespace perf_script;

constexpr std::size_t kReleaseEvery = 16 << 20;  // bytes
constexpr std::uint64_t kFirstMinute = 60'000'000'000;

class ScriptImport {
 public:
  ScriptImport(const Input& input, const ImportOptions& options, Target& target)
      : input_(input), options_(options), target_(target) {}

  Result<Imported> run() {
    ScriptText text(input_.text());
    ScriptText::Block block;
    std::size_t released = 0;
    while (text.next(block)) {
      RINGSIDE_TRY(take(block));
      if (!input_.release || text.offset() - released < kReleaseEvery) continue;
      released = text.offset();
      input_.release();
    }
    if (writer_ == nullptr)
      return fail(ErrorCode::kFormat,
                  "{}: no text of perf script: there is no sample, such as 'dd 12/12 [000] "
                  "4.000001: 1 cycles:'{}",
                  input_.name, faults_.count() == 0 ? "" : "; " + faults_.first());
    Imported imported{samples_, {}};
    if (faults_.count() != 0) imported.warnings.push_back(faults_.sentence(input_.name, "lines"));
    if (lost_.count() != 0) imported.warnings.push_back(lost_.sentence(input_.name, "samples"));
    for (const std::string& warning : imported.warnings)
      RINGSIDE_TRY(writer_->add_warning(warning));
    RINGSIDE_TRY(sources_.add_statistics());
    return imported;
  }

 private:
  Result<void> take(const ScriptText::Block& block) {
    if (!block.comment.empty()) {
      if (writer_ == nullptr) comments_.take(block.comment);
      return {};
    }
    const HeaderLine header = parse_header_line(block.header);
    if (const auto record = other_record(header)) {
      count_lost(*record);
      return {};
    }
    if (!is_sample(header, block)) {
      faults_.add(block.offset, "it is neither a sample nor a frame nor a comment");
      return {};
    }
    RINGSIDE_TRY(create(header));
    return add(block, header);
  }

  void count_lost(std::string_view record) {
    constexpr std::string_view kLost = "LOST lost ";
    if (!record.starts_with(kLost)) return;
    std::uint64_t lost = 0;
    std::from_chars(record.data() + kLost.size(), record.data() + record.size(), lost);
    sources_.add_lost(std::min(lost, std::uint64_t{1} << 48));
  }

  Result<void> add(const ScriptText::Block& block, const HeaderLine& header) {
    RINGSIDE_ASSIGN(Sources::Known* const source,
                    sources_.find(header.event, header.period.has_value()));
    if (source == nullptr) {
      faults_.add(block.offset, "there are more than 1000 events");
      return {};
    }
    recording::SampleInfo info;
    info.time_ns = time_of(header);
    info.source = source->id;
    info.weight = std::min<std::uint64_t>(header.period.value_or(1),
                                          std::numeric_limits<std::int64_t>::max());
    RINGSIDE_ASSIGN(const Owners::Known* const owner, owners_->find(header.owner, info.time_ns));
    info.pid = owner->pid;
    info.tid = owner->tid;
    info.vcpu = owner->vcpu;
    RINGSIDE_ASSIGN(const Stacks::Stack stack,
                    stacks_->find(block.frames.empty() ? frame_in_line(header.rest) : block.frames,
                                  owner->is_redox));
    if (stack.is_lost) {
      lost_.add(block.offset, StackBudget::kReason);
      ++source->lost;
      return {};
    }
    for (std::uint32_t i = 0; i < stack.left_out; ++i)
      faults_.add(block.offset, "a line below it is no frame");
    ++samples_;
    source->due += source->is_cpu ? info.weight : 1;
    info.level = stack.level;
    if (!stack.is_idle || !source->is_cpu) return writer_->add_sample(info, stack.refs(), {});
    info.level = PrivilegeLevel::kUnknown;
    info.disposition = wire::Disposition::kIdle;
    return writer_->add_sample(info, std::span<const recording::StackRef>(), {});
  }

  // Samples of several CPUs may be a little out of order.
  std::uint64_t time_of(const HeaderLine& header) {
    if (!has_times_) return number_++;
    if (header.time_ns) last_ns_ = std::max(*header.time_ns, start_ns_) - start_ns_;
    return last_ns_;
  }

  // The first sample says whether there are times, and the comments are of its event.
  Result<void> create(const HeaderLine& first) {
    if (writer_ != nullptr) return {};
    has_times_ = first.time_ns.has_value();
    if (has_times_ && *first.time_ns > kFirstMinute) start_ns_ = *first.time_ns;
    const Event event = main_event(input_.text());
    if (input_.release) input_.release();
    const std::uint64_t interval_ns = event.name == first.event ? comments_.interval_ns : 0;
    recording::Header header;
    header.engine = kEngine;
    header.command_line = comments_.command_line;
    header.host = comments_.host;
    header.arch = comments_.arch;
    header.vcpu_count = comments_.cpus;
    header.interval_ns = interval_ns;
    header.start_wall_ns = comments_.wall_ns;
    header.start_monotonic_ns = start_ns_;
    const recording::Source source =
        Sources::describe(event.name, event.has_period,
                          has_times_ ? recording::kHostClock : kEventNumbers, interval_ns);
    RINGSIDE_ASSIGN(writer_, target_.create(std::move(header), {source}));
    if (!has_times_) RINGSIDE_TRY(add_event_numbers(*writer_));
    sources_.begin(*writer_, source);
    owners_.emplace(*writer_);
    stacks_.emplace(*writer_, options_);
    return {};
  }

  const Input& input_;
  const ImportOptions& options_;
  Target& target_;
  recording::Writer* writer_ = nullptr;
  Comments comments_;
  Faults faults_;  // lines
  Faults lost_;    // samples
  Sources sources_;
  std::optional<Owners> owners_;  // when there is a writer, as the stacks
  std::optional<Stacks> stacks_;
  bool has_times_ = false;
  std::uint64_t start_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace

Likeness perf_script_likeness(const Input& input, const ImportOptions&) {
  constexpr std::size_t kBeginning = 64 << 10;
  const std::string_view beginning = input.text().substr(0, kBeginning);
  if (beginning.find('\0') != std::string_view::npos) return Likeness::kNone;
  ScriptText text(beginning);
  for (ScriptText::Block block; text.next(block);) {
    if (!block.comment.empty()) continue;
    const HeaderLine header = parse_header_line(block.header);
    if (other_record(header)) continue;
    const bool has_frames = begins_with_frame(block.frames) || !frame_in_line(header.rest).empty();
    const bool has_event = !header.event.empty() && parse_owner(header.owner).tid;
    if (has_event && (header.time_ns || has_frames)) return Likeness::kCertain;
    if (has_frames) return Likeness::kFits;
    const bool has_no_stack = !header.time_ns && is_sample(header, block);
    if (!has_no_stack) return Likeness::kNone;
  }
  return Likeness::kNone;
}

Result<Imported> import_perf_script(std::span<const Input> inputs, const ImportOptions& options,
                                    Target& target) {
  return ScriptImport(inputs.front(), options, target).run();
}

}  // namespace ringside::importers
