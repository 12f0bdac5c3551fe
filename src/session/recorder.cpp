#include "session/recorder.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/clock.h"
#include "cases/entry_text.h"
#include "cases/recorded_captures.h"
#include "symbols/symbol_file.h"

namespace ringside::session {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPollInterval{50};
constexpr std::size_t kQueueBytes = 64u << 20;

// Bytes from the lowest to the highest address of code.
std::uint64_t code_size(const elf::ElfFile& file) {
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  for (const elf::Segment& segment : file.segments()) {
    if (!segment.executable) continue;
    low = std::min(low, segment.address.value);
    high = std::max(high, segment.address.value + segment.memory_size);
  }
  return low > high ? 0 : high - low;
}

}  // namespace

Recorder::Recorder(engines::Engine& engine, KernelRequest kernel, recording::Writer& writer,
                   std::uint64_t start_ns, const SamplingOptions& options)
    : engine_(&engine),
      writer_(&writer),
      start_ns_(start_ns),
      options_(options),
      feedback_(engine.vcpu_count(), options.stack_bytes, !options.adapt_stack_bytes),
      planner_(feedback_, options, engine.vcpu_count()),
      watch_(std::move(kernel), engine.arch()),
      queue_(kQueueBytes),
      unwinder_(images_, {.kernel_seen = !watch_.has_file(), .max_frames = 512}) {}

RecordResult Recorder::run(Control& control) {
  RecordResult result;
  bool stopped = false;
  auto ok = writer_->flush();
  if (ok) ok = wait_for_start(control, stopped);
  Sampler sampler(*engine_, planner_, watch_, queue_, options_);
  if (ok && !stopped) {
    sampling_since_ns_ = monotonic_ns() + options_.delay_ns;
    sampler.start();
    ok = record(control, sampler);
    sampler.stop();
    sampler.join();
  }
  const Sampler::Outcome& outcome = sampler.outcome();
  result.guest_gone = outcome.guest_gone;
  result.samples = samples_;
  if (!ok)
    result.error = ok.error();
  else
    result.error = outcome.error;
  add_warnings(outcome, result);
  // After an error of the writer nothing more can be written; the first error is the one to tell.
  for (const std::string& warning : result.warnings)
    if (ok) ok = writer_->add_warning(warning);
  if (ok) ok = writer_->add_statistics(statistics(outcome));
  if (ok) ok = writer_->finish();
  if (!ok && !result.error) result.error = ok.error();
  return result;
}

Result<void> Recorder::adopt(const KernelNews& kernel) {
  unwinder_.set_entries(kernel.entries);
  if (options_.keep_captures) {
    const std::string entries = cases::entries_text(kernel.entries, engine_->arch());
    RINGSIDE_TRY(writer_->add_blob({cases::kEntryLayoutsBlob, 0, as_bytes(entries)}));
  }
  return add_image(kernel.image);
}

Result<void> Recorder::add_image(const elf::Image& found) {
  elf::Image numbered = found;
  numbered.id = static_cast<std::uint32_t>(images_.images().size() + 1);
  const elf::Image& image = images_.add(std::move(numbered));
  const Bytes build_id = image.file->build_id();
  recording::ImageInfo info;
  info.name = image.name;
  if (!image.from_guest) info.path = image.file->name();
  info.build_id.assign(build_id.begin(), build_id.end());
  info.arch = image.file->arch();
  info.load_bias = image.load_bias;
  info.size = code_size(*image.file);
  RINGSIDE_ASSIGN(const std::uint32_t id, writer_->add_image(info));
  for (const elf::Segment& segment : image.file->segments()) {
    if (!segment.executable) continue;
    recording::Mapping mapping;
    mapping.image = id;
    mapping.start = image.to_guest(segment.address);
    mapping.end = mapping.start + segment.memory_size;
    mapping.file_offset = segment.offset;
    RINGSIDE_TRY(writer_->add_mapping(mapping));
  }
  if (image.from_guest) {
    RINGSIDE_TRY(writer_->add_blob({recording::kImageFileBlob, id, image.file->file_bytes()}));
  } else if (!image.file->is_on_disk()) {
    const std::vector<std::byte> names = symbols::pack_symbols(*image.file);
    RINGSIDE_TRY(writer_->add_blob({recording::kSymbolsBlob, id, names}));
  }
  return writer_->flush();
}

Result<void> Recorder::wait_for_start(Control& control, bool& stopped) {
  Control::Wish wish = control.poll();
  while (wish == Control::Wish::kWait) {
    timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
    wish = control.poll();
  }
  stopped = wish == Control::Wish::kStop;
  return {};
}

Result<void> Recorder::record(Control& control, Sampler& sampler) {
  std::uint64_t next_poll_ns = 0;
  bool stopping = false;
  while (!queue_.finished()) {
    if (const auto seen = queue_.pop(kPollInterval)) {
      if (seen->kernel) {
        RINGSIDE_TRY(adopt(*seen->kernel));
        control.found(*seen->kernel);
      }
      for (const elf::Image& image : seen->code) RINGSIDE_TRY(add_image(image));
      RINGSIDE_TRY(handle(seen->tick));
    }
    const std::uint64_t now = monotonic_ns();
    if (limit_reached()) sampler.stop();
    if (stopping || now < next_poll_ns) continue;
    next_poll_ns = now + std::chrono::nanoseconds(kPollInterval).count();
    const double seconds = static_cast<double>(now - std::min(now, sampling_since_ns_)) / 1e9;
    control.progress({seconds, samples_, idle_});
    if (control.poll() == Control::Wish::kStop) {
      sampler.stop();
      stopping = true;
    }
  }
  return {};
}

bool Recorder::limit_reached() const { return options_.samples && samples_ >= *options_.samples; }

Result<void> Recorder::handle(const engines::Tick& tick) {
  for (const wire::Capture& capture : tick.captures) {
    const recording::SampleInfo info = recording::info_of(capture, start_ns_);
    if (capture.disposition != wire::Disposition::kSampled) {
      if (capture.disposition == wire::Disposition::kIdle) ++idle_;
      RINGSIDE_TRY(writer_->add_sample(info, nullptr));
      continue;
    }
    if (!kernel_seen_ && runs_kernel(capture, images_)) {
      kernel_seen_ = true;
      unwinder_.set_kernel_seen(true);
    }
    const Stack stack = unwinder_.unwind(capture);
    feedback_.learn(capture, stack);
    ++samples_;
    if (capture.level == PrivilegeLevel::kKernel) ++kernel_samples_;
    stack_bytes_ += capture.bytes.size();
    RINGSIDE_TRY(writer_->add_sample(info, &stack));
    if (options_.keep_captures) RINGSIDE_TRY(keep(capture, info.time_ns));
  }
  return {};
}

Result<void> Recorder::keep(const wire::Capture& capture, std::uint64_t time_ns) {
  wire::Capture kept = capture;
  kept.host_time_ns = time_ns;
  return writer_->add_capture(kept);
}

recording::Statistics Recorder::statistics(const Sampler::Outcome& outcome) const {
  const engines::MemoryPauses pauses = engine_->memory_pauses();
  recording::Statistics statistics;
  statistics.due = outcome.due;
  statistics.lost = outcome.lost;
  statistics.late = outcome.late_ticks;
  statistics.duration_ns = outcome.last_tick_ns - outcome.first_tick_ns - outcome.user_pause_ns;
  statistics.counters = {
      {"lost, too slow", outcome.queue_full},
      {"stops that timed out", outcome.retries},
      {"paused by its user ns", outcome.user_pause_ns},
      {"memory read pauses ns", pauses.total_ns},
      {"memory reads", pauses.count},
      {"longest memory read pause ns", pauses.longest_ns},
      {recording::kStackBytesCounter, stack_bytes_},
      {recording::kSlowFramesCounter, unwinder_.statistics().slow_frames},
  };
  for (std::size_t i = 0; i < kFrameSourceCount; ++i)
    statistics
        .counters[std::string(recording::kFramesByCounter) + name_of(static_cast<FrameSource>(i))] =
        unwinder_.statistics().frames_by_source[i];
  return statistics;
}

void Recorder::add_warnings(const Sampler::Outcome& outcome, RecordResult& result) const {
  if (outcome.queue_full > 0)
    result.warnings.push_back(
        fmt::format("{} samples were lost because unwinding could not keep up; sample less often "
                    "(-F, --interval)",
                    outcome.queue_full));
  const bool told = result.error && result.error->code == ErrorCode::kMismatch;
  if (const std::string text = watch_.explain(); kernel_samples_ > 0 && !text.empty() && !told)
    result.warnings.push_back(text);
}

}  // namespace ringside::session
