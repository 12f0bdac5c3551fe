#include "importers/gdb_text.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "importers/gdb_line_reader.h"
#include "importers/gdb_lines.h"
#include "importers/gdb_stack.h"
#include "importers/parts/event_numbers.h"
#include "importers/parts/faults.h"

namespace ringside::importers {
namespace {

constexpr const char* kFormat = "gdb";
constexpr const char* kThreadSource = "threads";
constexpr std::string_view kRound = "-<!OSDK_PROF_BT_ROUND!>-";
constexpr std::size_t kBeginning = 64 << 10;     // bytes that show whether it is such text
constexpr std::size_t kFirstCapture = 1 << 20;   // bytes that it has, at most
constexpr std::size_t kReleaseEvery = 64 << 20;  // bytes

// The rest of a line behind the mark of a round. Some scripts end no line behind the mark.
std::string_view behind_round(std::string_view line) {
  const std::size_t mark = line.find(kRound);
  return mark == std::string_view::npos ? line : line.substr(mark + kRound.size());
}

std::uint32_t vcpus_of_first_capture(std::string_view text) {
  std::unordered_set<std::uint32_t> seen;
  for (GdbLineReader lines(text.substr(0, kFirstCapture)); !lines.empty();) {
    const auto thread = parse_gdb_thread(behind_round(lines.take()));
    if (thread && thread->cpu && !seen.insert(*thread->cpu).second) break;
  }
  return static_cast<std::uint32_t>(seen.size());
}

// As gdb says it when it attaches or detaches.
std::optional<std::uint32_t> process_of(std::string_view text) {
  text = text.substr(0, kFirstCapture);
  for (const std::string_view words : {"Attaching to process ", "[Inferior 1 (process "}) {
    const std::size_t at = text.find(words);
    if (at == std::string_view::npos) continue;
    std::string_view rest = text.substr(at + words.size());
    std::uint64_t pid = 0;
    std::size_t digits = 0;
    for (; digits < rest.size() && digits < 10 && rest[digits] >= '0' && rest[digits] <= '9';
         ++digits)
      pid = 10 * pid + static_cast<std::uint64_t>(rest[digits] - '0');
    if (digits != 0 && pid <= 0xffffffff) return static_cast<std::uint32_t>(pid);
  }
  return std::nullopt;
}

// Why gdb stopped, where it says so behind the frames.
std::optional<StopReason> stop_in(std::string_view line) {
  if (line.starts_with("(More stack frames follow")) return StopReason::kTruncated;
  if (!line.starts_with("Backtrace stopped: ")) return std::nullopt;
  const bool is_unreadable = line.find("annot access memory") != std::string_view::npos;
  return is_unreadable ? StopReason::kUnreadable : StopReason::kNotAdvancing;
}

class GdbImport {
 public:
  explicit GdbImport(Target& target) : target_(target) {}

  Result<void> read(const Input& input) {
    Faults faults;
    faults_ = &faults;
    pid_ = process_of(input.text());
    GdbLineReader lines(input.text());
    std::size_t released = input.bytes.size();
    while (!lines.empty()) {
      RINGSIDE_TRY(take(lines, input.text()));
      if (released - lines.left() < kReleaseEvery) continue;
      released = lines.left();
      if (input.release) input.release();
    }
    RINGSIDE_TRY(end_capture());
    if (faults.count() != 0) {
      if (first_fault_.empty()) first_fault_ = faults.first();
      warnings_.push_back(faults.sentence(input.name, "lines"));
    }
    return {};
  }

  Result<Imported> finish(const std::string& name) {
    if (samples() == 0)
      return fail(ErrorCode::kFormat,
                  "{}: no backtrace of gdb: no line is a frame, such as '#0  0xffffffff81000000 in "
                  "main ()'{}",
                  name, first_fault_.empty() ? "" : "; " + first_fault_);
    for (const std::string& warning : warnings_) RINGSIDE_TRY(writer_->add_warning(warning));
    for (const Known* const source : {&cpus_, &threads_}) {
      if (source->id == 0) continue;
      recording::Statistics statistics;
      statistics.source = source->id;
      statistics.due = source->samples;
      RINGSIDE_TRY(writer_->add_statistics(statistics));
    }
    return Imported{samples(), std::move(warnings_)};
  }

 private:
  struct Known {
    std::uint32_t id = 0;  // of the source; 0: it has none yet
    std::uint64_t samples = 0;
  };

  [[nodiscard]] std::uint64_t samples() const { return cpus_.samples + threads_.samples; }

  Result<void> take(GdbLineReader& lines, std::string_view text) {
    const std::string_view line = lines.take();
    line_ = lines.number();
    if (line.starts_with('#')) return take_frame(line, text);
    if (const auto stop = stop_in(line)) stop_ = *stop;
    const std::string_view rest = behind_round(line);
    if (rest.size() != line.size()) RINGSIDE_TRY(end_capture());
    if (const auto thread = parse_gdb_thread(rest)) return begin(*thread);
    return {};
  }

  Result<void> take_frame(std::string_view line, std::string_view text) {
    const auto frame = parse_gdb_frame(line);
    if (!frame) {
      faults_->add(where(), "no frame of gdb, such as '#0  0xffffffff81000000 in main ()'");
      return {};
    }
    RINGSIDE_TRY(create(text));
    if (frames_ != 0 && frame->number == 0) {
      RINGSIDE_TRY(end_stack());
      thread_.reset();
    }
    if (++frames_ > kMostStackFrames) {
      stop_ = StopReason::kTruncated;
      return {};
    }
    if (!stack_->has_room()) return {};
    return stack_->add(line.substr(line.find_first_of(" \t")), *frame);
  }

  Result<void> begin(const GdbThread& thread) {
    RINGSIDE_TRY(end_stack());
    thread_ = thread;
    name_ = thread.name;
    thread_line_ = line_;
    return {};
  }

  Result<void> end_capture() {
    RINGSIDE_TRY(end_stack());
    begin_capture();
    return {};
  }

  void begin_capture() {
    if (!seen_.empty()) ++capture_;
    seen_.clear();
  }

  Result<void> end_stack() {
    if (frames_ == 0) {
      if (thread_) faults_->add(fmt::format("line {}", thread_line_), "a thread without frames");
      thread_.reset();
      return {};
    }
    frames_ = 0;
    const std::optional<GdbThread> thread = std::exchange(thread_, std::nullopt);
    const StopReason stop = std::exchange(stop_, StopReason::kEndOfStack);
    if (!stack_->has_room()) {
      stack_->drop();
      faults_->add(where(), StackBudget::kReason);
      return {};
    }
    recording::StackRef stack = stack_->finish();
    stack.stop = stop;
    return add_sample(thread, stack);
  }

  Result<void> add_sample(const std::optional<GdbThread>& thread,
                          const recording::StackRef& stack) {
    const bool is_cpu = thread && thread->cpu;
    if (is_cpu && *thread->cpu >= recording::kNoVcpu.value) {
      faults_->add(where(), fmt::format("there is no CPU {}", *thread->cpu));
      return {};
    }
    recording::SampleInfo info;
    info.vcpu = recording::kNoVcpu;
    if (is_cpu) info.vcpu.value = static_cast<std::uint16_t>(*thread->cpu);
    if (stack_->is_kernel()) info.level = PrivilegeLevel::kKernel;
    if (thread && !is_cpu) info.tid = thread->lwp.value_or(thread->number);
    if (thread && !is_cpu && thread->lwp) info.pid = pid_;
    const std::uint64_t key =
        std::uint64_t{is_cpu} << 32 | (is_cpu ? *thread->cpu : info.tid.value_or(0));
    if (seen_.count(key) != 0) begin_capture();
    seen_.insert(key);
    info.time_ns = capture_;
    RINGSIDE_TRY(name_thread(info));
    Known& source = is_cpu ? cpus_ : threads_;
    RINGSIDE_ASSIGN(info.source, id_of(source));
    ++source.samples;
    return writer_->add_sample(info, {&stack, 1}, {});
  }

  Result<void> name_thread(const recording::SampleInfo& info) {
    if (!info.pid || name_.empty()) return {};
    constexpr std::size_t kMostNames = 100'000;
    if (names_.size() == kMostNames) names_.clear();
    std::string& name = names_[*info.tid];
    if (name == name_) return {};
    name = name_;
    return writer_->add_thread_name({info.time_ns, *info.pid, *info.tid, 0, name});
  }

  // The first capture of an input says how many vCPUs there are.
  Result<void> create(std::string_view text) {
    if (writer_ != nullptr) return {};
    recording::Header header;
    header.engine = kFormat;
    header.vcpu_count = vcpus_of_first_capture(text);
    const bool is_cpu = thread_ && thread_->cpu;
    (is_cpu ? cpus_ : threads_).id = 1;
    RINGSIDE_ASSIGN(writer_, target_.create(header, {source(is_cpu)}));
    stack_ = std::make_unique<GdbStack>(*writer_);
    return add_event_numbers(*writer_);
  }

  Result<std::uint32_t> id_of(Known& known) {
    if (known.id == 0) {
      RINGSIDE_ASSIGN(known.id, writer_->add_source(source(&known == &cpus_)));
    }
    return known.id;
  }

  // Threads may have waited: it is not known whether they ran.
  static recording::Source source(bool is_cpu) {
    using recording::SourceKind;
    recording::Source source;
    source.name = is_cpu ? recording::kCpuSourceName : kThreadSource;
    source.kind = is_cpu ? SourceKind::kCpu : SourceKind::kOther;
    source.clock = kEventNumbers;
    source.period = 1;
    source.engine = kFormat;
    source.values = {is_cpu ? recording::ValueType{"ticks", recording::WeightUnit::kTicks, 1}
                            : recording::ValueType{"samples", recording::WeightUnit::kSamples, 1}};
    return source;
  }

  [[nodiscard]] std::string where() const { return fmt::format("line {}", line_); }

  Target& target_;
  recording::Writer* writer_ = nullptr;
  std::unique_ptr<GdbStack> stack_;  // there is one when there is a writer
  Faults* faults_ = nullptr;         // of the input at hand
  std::vector<std::string> warnings_;
  std::string first_fault_;
  std::uint64_t line_ = 0;
  std::optional<std::uint32_t> pid_;
  Known cpus_;
  Known threads_;
  std::unordered_map<std::uint32_t, std::string> names_;  // by tid, as they were told
  std::unordered_set<std::uint64_t> seen_;                // vCPUs and threads of the capture
  std::uint64_t capture_ = 0;
  std::optional<GdbThread> thread_;  // whose frames come; its name is in name_
  std::string name_;
  std::uint64_t thread_line_ = 0;
  std::size_t frames_ = 0;  // of the stack at hand
  StopReason stop_ = StopReason::kEndOfStack;
};

}  // namespace

Likeness gdb_text_likeness(const Input& input, const ImportOptions&) {
  // The innermost functions may have no address, because they are inlined, but a place.
  const auto is_frame = [](std::string_view line, std::uint32_t number) {
    const auto frame = parse_gdb_frame(line);
    return frame && frame->number == number &&
           (frame->address || line.ends_with(')') || !frame->file.empty() ||
            !frame->library.empty());
  };
  // "bt full" writes variables behind each frame.
  const auto is_of_variables = [](std::string_view line) {
    return line.starts_with("  ") || line == "No locals.";
  };
  bool was_thread = false;
  bool was_first = false;
  for (GdbLineReader lines(input.text().substr(0, kBeginning)); !lines.empty();) {
    const std::string_view line = lines.take();
    if (line.find('\0') != std::string_view::npos) return Likeness::kNone;
    if (was_thread && is_frame(line, 0)) return Likeness::kCertain;
    if (was_first && is_frame(line, 1)) return Likeness::kFits;
    if (was_first && is_of_variables(line)) continue;
    was_thread = parse_gdb_thread(behind_round(line)).has_value();
    was_first = is_frame(line, 0);
  }
  return Likeness::kNone;
}

Result<Imported> import_gdb_text(std::span<const Input> inputs, const ImportOptions&,
                                 Target& target) {
  GdbImport import(target);
  for (const Input& input : inputs) RINGSIDE_TRY(import.read(input));
  return import.finish(inputs.front().name);
}

}  // namespace ringside::importers
