#include "recording/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/private_file.h"
#include "base/shell_word.h"
#include "recording/block.h"
#include "recording/codec/encode.h"
#include "recording/context_table.h"
#include "recording/mapping_table.h"
#include "recording/stack_interner.h"
#include "recording/stack_memo.h"
#include "recording/text_table.h"

namespace ringside::recording {
namespace {

constexpr std::size_t kBlockTarget = 64 << 10;         // bytes of records in a block
constexpr std::uint64_t kBlockPeriodNs = 500'000'000;  // of sample time
constexpr std::size_t kBlobPieceSize = 1 << 20;        // bytes
constexpr std::size_t kMaxText = 64 << 10;             // bytes of one warning or text
constexpr std::size_t kBytesPerPendingEntry = 8;       // a guess of what one will take
constexpr std::size_t kRowsOfBatch = 4096;             // of events and counters, at most

// So many that their bytes fit into a block.
std::size_t rows_of_batch(const EventBatch& batch) {
  std::size_t longest = 1;
  for (const EventColumn& column : batch.fields)
    for (const std::string& bytes : column.bytes) longest = std::max(longest, bytes.size());
  const std::size_t row = longest * std::max<std::size_t>(1, batch.fields.size());
  return std::clamp<std::size_t>((kMaxBlockSize / 4) / row, 1, kRowsOfBatch);
}

struct Output {
  UniqueFd fd;
  std::string name;
  bool regular = false;
};

Result<Output> open_output(const std::filesystem::path& path) {
  if (path == "-") {
    UniqueFd fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd.valid()) return fail_errno("cannot write standard output");
    return Output{std::move(fd), "standard output", false};
  }
  RINGSIDE_ASSIGN(UniqueFd fd, create_private_file(path));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail_errno(path.string());
  return Output{std::move(fd), path.string(), S_ISREG(info.st_mode)};
}

}  // namespace

struct Writer::State {
  explicit State(Output out) : output(std::move(out)) {}

  Output output;
  Header header;
  BlockEncoder encoder;
  StackInterner interner;
  StackMemo memo;
  ContextTable contexts;
  MappingTable mappings;
  // The block that is being gathered: the pending texts, places (images, mappings, and what
  // describes samples, events and counters), interner.pending(), the pending contexts, records, and
  // behind them the batches of samples.
  TextTable texts;
  std::string places;
  std::string records;
  std::vector<SampleBatch> batches;  // by source - 1
  std::size_t batched = 0;           // samples
  std::uint32_t sequence = 0;
  std::uint64_t written = 0;  // bytes of whole blocks
  std::uint64_t block_start_ns = 0;
  std::uint32_t images = 0;
  std::uint32_t mapping_count = 0;
  std::uint32_t clocks = 0;
  std::uint32_t snapshots = 0;
  std::uint32_t marks = 0;
  std::vector<EventType> event_types;    // by id - 1
  std::vector<CounterSet> counter_sets;  // by id - 1
  std::vector<Source> sources;           // by id - 1
  bool has_records = false;              // in the file
  bool is_temporary = false;
  bool finished = false;
  std::optional<Error> error;
  std::vector<StackRef> stacks;  // reused

  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] Result<void> write(std::string_view bytes);
  [[nodiscard]] Result<void> write_block(BlockKind kind, std::string_view payload);
  [[nodiscard]] Result<void> flush();
  [[nodiscard]] Result<void> flush_if_due(std::uint64_t now_ns);
  std::uint32_t add_source(Source source);
  void encode_batches();
  [[nodiscard]] StackRef intern(const Stack& stack, std::uint64_t address_space);
  [[nodiscard]] StackRef intern(std::span<const RecordedFrame> frames);
  [[nodiscard]] Result<void> add(const SampleInfo& info, std::span<const StackRef> parts,
                                 std::span<const std::int64_t> more_values);
  // The number of frames, nodes, contexts and samples that wait.
  [[nodiscard]] std::size_t pending_count() const;
};

Result<void> Writer::State::check() const {
  if (error) return tl::unexpected<Error>(*error);
  return {};
}

Result<void> Writer::State::write(std::string_view bytes) {
  if (auto result = write_all(output.fd.get(), as_bytes(bytes), output.name); !result) {
    error = result.error();
    // Half a block is of no use to a reader, and the disk may be full.
    if (output.regular && ::ftruncate(output.fd.get(), static_cast<off_t>(written)) != 0)
      error->message += "; the recording ends in a cut block";
    if (output.regular && has_records && !is_temporary)
      error->message +=
          fmt::format("; what was recorded until then can be read: ringside report -i {}",
                      shell_word(output.name));
    return tl::unexpected<Error>(*error);
  }
  written += bytes.size();
  return {};
}

Result<void> Writer::State::write_block(BlockKind kind, std::string_view payload) {
  if (payload.size() > kMaxBlockSize) {
    error = Error{ErrorCode::kUsage, fmt::format("{}: a record of {} bytes is larger than a block",
                                                 output.name, payload.size())};
    return tl::unexpected<Error>(*error);
  }
  return write(encoder.encode(kind, sequence++, payload));
}

std::uint32_t Writer::State::add_source(Source source) {
  source.id = static_cast<std::uint32_t>(sources.size() + 1);
  encode(source, places);
  SampleBatch& batch = batches.emplace_back();
  batch.source = source.id;
  batch.values.resize(source.values.size());
  sources.push_back(std::move(source));
  return sources.back().id;
}

Result<void> Writer::State::flush() {
  RINGSIDE_TRY(check());
  if (places.empty() && records.empty() && pending_count() == 0) return {};
  encode_batches();
  std::string payload;
  texts.encode_pending(payload);
  payload += places;
  places.clear();
  encode(interner.pending(), payload);
  encode(contexts, payload);
  payload += records;
  interner.clear_pending();
  contexts.clear_pending();
  records.clear();
  RINGSIDE_TRY(write_block(BlockKind::kRecords, payload));
  has_records = true;
  return {};
}

// Moves the samples that wait behind the records.
void Writer::State::encode_batches() {
  if (batched == 0) return;
  batched = 0;
  for (SampleBatch& batch : batches) {
    if (batch.times.empty()) continue;
    encode(batch, records);
    batch.clear();
  }
}

std::size_t Writer::State::pending_count() const {
  const StackInterner::Pending& pending = interner.pending();
  return pending.frames.size() + pending.nodes.size() + contexts.pending_count() +
         texts.pending_count() + batched;
}

Result<void> Writer::State::flush_if_due(std::uint64_t now_ns) {
  const std::size_t size = places.size() + records.size() + texts.pending_bytes() +
                           kBytesPerPendingEntry * pending_count();
  const bool late = now_ns > block_start_ns && now_ns - block_start_ns >= kBlockPeriodNs;
  if (size < kBlockTarget && !late) return {};
  block_start_ns = std::max(block_start_ns, now_ns);
  return flush();
}

StackRef Writer::State::intern(const Stack& stack, std::uint64_t address_space) {
  StackRef ref;
  ref.stop = stack.stop;
  if (!is_complete(stack.stop)) ref.stopped_at = stack.stopped_at;
  // Else each of the guest's processes would have its own entry of a stack that all have.
  if (mappings.has_none_of(address_space)) address_space = 0;
  std::optional<std::uint32_t>& known = memo.node(memo.key_of(stack, address_space));
  if (known) {
    ref.node = *known;
    return ref;
  }
  for (auto it = stack.frames.rbegin(); it != stack.frames.rend(); ++it) {
    RecordedFrame frame{it->address, it->exact, it->source, it->kind, it->image};
    const auto place =
        it->image != 0 ? std::nullopt : mappings.find(address_space, frame.lookup_address());
    if (place) {
      frame.image = place->image;
      frame.mapping = place->mapping;
    }
    ref.node = interner.intern_node({ref.node, interner.intern_frame(frame)});
  }
  known = ref.node;
  return ref;
}

StackRef Writer::State::intern(std::span<const RecordedFrame> frames) {
  StackRef ref;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    ref.node = interner.intern_node({ref.node, interner.intern_frame(*frame)});
  return ref;
}

Result<void> Writer::State::add(const SampleInfo& info, std::span<const StackRef> parts,
                                std::span<const std::int64_t> more_values) {
  if (info.source == 0 || info.source > sources.size())
    return fail(ErrorCode::kUsage, "{}: a sample of source {}, which was not added", output.name,
                info.source);
  const Source& source = sources[info.source - 1];
  if (more_values.size() + 1 != source.values.size())
    return fail(ErrorCode::kUsage, "{}: a sample of source {} with {} values, which has {}",
                output.name, source.name, more_values.size() + 1, source.values.size());
  SampleBatch& batch = batches[info.source - 1];
  batch.times.push_back(info.time_ns);
  batch.contexts.push_back(contexts.intern(info, parts));
  batch.pauses.push_back(info.pause_ns);
  batch.values[0].push_back(static_cast<std::int64_t>(info.weight));
  for (std::size_t value = 0; value < more_values.size(); ++value)
    batch.values[value + 1].push_back(more_values[value]);
  ++batched;
  return flush_if_due(source.clock == kHostClock ? info.time_ns : 0);
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
void Writer::set_temporary() { state_->is_temporary = true; }
Writer::~Writer() {
  if (state_ && !state_->finished) (void)state_->flush();
}

Result<Writer> Writer::create(const std::filesystem::path& path, const Header& header) {
  return create(path, header, {cpu_source(header)});
}

Result<Writer> Writer::create(const std::filesystem::path& path, const Header& header,
                              const std::vector<Source>& sources) {
  RINGSIDE_ASSIGN(Output output, open_output(path));
  auto state = std::make_unique<State>(std::move(output));
  state->header = header;
  std::string payload;
  encode(header, payload);
  for (const Source& source : sources) state->add_source(source);
  payload += std::exchange(state->places, {});
  RINGSIDE_TRY(state->write(
      file_header() + state->encoder.encode(BlockKind::kRecords, state->sequence++, payload)));
  return Writer(std::move(state));
}

Result<void> Writer::describe_kernel(const GuestKernel& kernel) {
  RINGSIDE_TRY(state_->check());
  Header& header = state_->header;
  if (!kernel.system.empty()) header.guest_os = kernel.system;
  if (!kernel.name.empty()) header.kernel = kernel.name;
  if (!kernel.release.empty()) header.kernel_release = kernel.release;
  if (!kernel.build_id.empty()) header.kernel_build_id = kernel.build_id;
  std::string payload;
  encode(header, payload);
  return state_->write_block(BlockKind::kHead, payload);
}

Result<std::uint32_t> Writer::add_image(const ImageInfo& image) {
  RINGSIDE_TRY(state_->check());
  ImageInfo stored = image;
  stored.id = ++state_->images;
  encode(stored, state_->places);
  return stored.id;
}

Result<std::uint32_t> Writer::add_mapping(const Mapping& mapping) {
  RINGSIDE_TRY(state_->check());
  Mapping stored = mapping;
  stored.id = ++state_->mapping_count;
  state_->mappings.add(stored);
  state_->memo.clear();
  encode(stored, state_->places);
  return stored.id;
}

Result<void> Writer::add_sample(const SampleInfo& info, const Stack* stack) {
  return add_sample(info,
                    stack != nullptr ? std::span(&stack, 1) : std::span<const Stack* const>());
}

Result<void> Writer::add_sample(const SampleInfo& info, std::span<const Stack* const> parts) {
  RINGSIDE_TRY(state_->check());
  std::vector<StackRef>& stacks = state_->stacks;
  stacks.clear();
  for (const Stack* part : parts) stacks.push_back(state_->intern(*part, info.address_space));
  return state_->add(info, stacks, {});
}

Result<void> Writer::add_sample(const SampleInfo& info, std::span<const StackRef> stacks,
                                std::span<const std::int64_t> more_values) {
  RINGSIDE_TRY(state_->check());
  return state_->add(info, stacks, more_values);
}

StackRef Writer::add_stack(const Stack& stack, std::uint64_t address_space) {
  return state_->intern(stack, address_space);
}

StackRef Writer::add_stack(std::span<const RecordedFrame> frames) { return state_->intern(frames); }

Result<void> Writer::add_function(const ImageFunction& function) {
  RINGSIDE_TRY(state_->check());
  RINGSIDE_TRY(state_->flush_if_due(0));
  encode(function, state_->places);
  return {};
}

Result<std::uint32_t> Writer::add_clock(const Clock& clock) {
  RINGSIDE_TRY(state_->check());
  Clock stored = clock;
  stored.id = ++state_->clocks;
  encode(stored, state_->places);
  return stored.id;
}

Result<std::uint32_t> Writer::add_source(const Source& source) {
  RINGSIDE_TRY(state_->check());
  return state_->add_source(source);
}

Result<void> Writer::add_clock_tie(const ClockTie& tie) {
  RINGSIDE_TRY(state_->check());
  encode(tie, state_->places);
  return {};
}

Result<std::uint32_t> Writer::add_text(std::string_view text) {
  RINGSIDE_TRY(state_->check());
  RINGSIDE_TRY(state_->flush_if_due(0));
  return state_->texts.add(text.substr(0, kMaxText));
}

Result<std::uint32_t> Writer::add_event_type(const EventType& type) {
  RINGSIDE_TRY(state_->check());
  EventType stored = type;
  stored.id = static_cast<std::uint32_t>(state_->event_types.size() + 1);
  encode(stored, state_->places);
  state_->event_types.push_back(std::move(stored));
  return state_->event_types.back().id;
}

Result<std::uint32_t> Writer::add_snapshot(const Snapshot& snapshot) {
  RINGSIDE_TRY(state_->check());
  Snapshot stored = snapshot;
  stored.id = ++state_->snapshots;
  encode(stored, state_->places);
  return stored.id;
}

Result<std::uint32_t> Writer::add_counter_set(const CounterSet& set) {
  RINGSIDE_TRY(state_->check());
  if (set.key.empty())
    return fail(ErrorCode::kUsage, "{}: counters {} without a key", state_->output.name, set.name);
  CounterSet stored = set;
  stored.id = static_cast<std::uint32_t>(state_->counter_sets.size() + 1);
  encode(stored, state_->places);
  state_->counter_sets.push_back(std::move(stored));
  return state_->counter_sets.back().id;
}

Result<std::uint32_t> Writer::add_mark(const Mark& mark) {
  RINGSIDE_TRY(state_->check());
  Mark stored = mark;
  stored.id = ++state_->marks;
  encode(stored, state_->places);
  return stored.id;
}

std::uint32_t Writer::add_context(const SampleInfo& info, std::span<const StackRef> stacks) {
  return state_->contexts.intern(info, stacks);
}

std::uint32_t Writer::add_thread(const Thread& thread) { return state_->contexts.intern(thread); }

std::uint32_t Writer::add_frame(const RecordedFrame& frame) {
  return state_->interner.intern_frame(frame);
}

Result<void> Writer::add_events(const EventBatch& batch) {
  RINGSIDE_TRY(state_->check());
  const std::vector<EventType>& types = state_->event_types;
  const auto fits = [&](const auto& column) {
    return column.empty() || column.size() == batch.size();
  };
  const bool is_whole =
      batch.type > 0 && batch.type <= types.size() && batch.contexts.size() == batch.size() &&
      fits(batch.durations) && fits(batch.keys) &&
      batch.fields.size() == types[batch.type - 1].fields.size() &&
      std::all_of(batch.fields.begin(), batch.fields.end(), [&](const EventColumn& column) {
        return fits(column.numbers) && fits(column.bytes);
      });
  if (!is_whole)
    return fail(ErrorCode::kUsage, "{}: events of type {} that do not fit its description",
                state_->output.name, batch.type);
  const std::size_t rows = rows_of_batch(batch);
  for (std::size_t from = 0; from < batch.size(); from += rows) {
    encode(rows_of(batch, from, rows), state_->records);
    RINGSIDE_TRY(state_->flush_if_due(0));
  }
  return {};
}

Result<void> Writer::add_counters(const CounterBatch& batch) {
  RINGSIDE_TRY(state_->check());
  const std::vector<CounterSet>& sets = state_->counter_sets;
  const auto fits = [&](const auto& column) {
    return column.empty() || column.size() == batch.size();
  };
  const bool is_whole = batch.set > 0 && batch.set <= sets.size() &&
                        batch.keys.size() == sets[batch.set - 1].key.size() &&
                        std::all_of(batch.keys.begin(), batch.keys.end(), fits) &&
                        std::all_of(batch.values.begin(), batch.values.end(), fits);
  if (!is_whole)
    return fail(ErrorCode::kUsage, "{}: counters of set {} that do not fit its description",
                state_->output.name, batch.set);
  for (std::size_t from = 0; from < batch.size(); from += kRowsOfBatch) {
    encode(rows_of(batch, from, kRowsOfBatch), state_->records);
    RINGSIDE_TRY(state_->flush_if_due(0));
  }
  return {};
}

// Records whose place among the samples matters stand behind those that came before.
Result<void> Writer::add_capture(const wire::Capture& capture) {
  RINGSIDE_TRY(state_->check());
  state_->encode_batches();
  encode(capture, state_->records);
  return state_->flush_if_due(capture.host_time_ns);
}

// Frames stand in front of the records of their block, so the epoch has a block of its own.
Result<void> Writer::add_epoch(const GuestEpoch& epoch) {
  RINGSIDE_TRY(state_->flush());
  state_->mappings.clear();
  state_->memo.clear();
  state_->interner.begin_epoch();
  encode(epoch, state_->records);
  return state_->flush();
}

Result<void> Writer::add_thread_name(const ThreadName& name) {
  RINGSIDE_TRY(state_->check());
  state_->encode_batches();
  encode(name, state_->records);
  return state_->flush_if_due(name.time_ns);
}

Result<void> Writer::add_blob(const Blob& blob) {
  RINGSIDE_TRY(state_->check());
  std::size_t offset = 0;
  do {
    RINGSIDE_TRY(flush());
    const Bytes bytes =
        blob.content.subspan(offset, std::min(kBlobPieceSize, blob.content.size() - offset));
    encode(BlobPiece{blob.kind,
                     blob.image,
                     offset,
                     blob.content.size(),
                     {reinterpret_cast<const char*>(bytes.data()), bytes.size()}},
           state_->records);
    offset += bytes.size();
  } while (offset < blob.content.size());
  return flush();
}

Result<void> Writer::add_warning(std::string_view text) {
  RINGSIDE_TRY(state_->check());
  encode_warning(text.substr(0, kMaxText), state_->records);
  return state_->flush_if_due(0);
}

Result<void> Writer::add_statistics(const Statistics& statistics) {
  RINGSIDE_TRY(state_->check());
  encode(statistics, state_->records);
  return state_->flush_if_due(0);
}

Result<void> Writer::flush() { return state_->flush(); }

Result<void> Writer::finish() {
  RINGSIDE_TRY(state_->flush());
  state_->finished = true;
  return state_->write_block(BlockKind::kEnd, {});
}

std::uint64_t Writer::bytes_written() const { return state_->written; }

Result<void> write_copy(const std::filesystem::path& path, Bytes recording) {
  RINGSIDE_ASSIGN(const Output output, open_output(path));
  return write_all(output.fd.get(), recording, output.name);
}

}  // namespace ringside::recording
