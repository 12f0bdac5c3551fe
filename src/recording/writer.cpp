#include "recording/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>

#include "base/fd.h"
#include "base/file.h"
#include "base/private_file.h"
#include "recording/block.h"
#include "recording/codec/encode.h"
#include "recording/mapping_table.h"
#include "recording/stack_interner.h"
#include "recording/stack_memo.h"

namespace ringside::recording {
namespace {

constexpr std::size_t kBlockTarget = 64 << 10;         // bytes of records in a block
constexpr std::uint64_t kBlockPeriodNs = 500'000'000;  // of sample time
constexpr std::size_t kBlobPieceSize = 1 << 20;        // bytes
constexpr std::size_t kMaxText = 64 << 10;             // bytes of one warning
constexpr std::size_t kBytesPerPendingNode = 8;        // a guess of what a node will take

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
  BlockEncoder encoder;
  StackInterner interner;
  StackMemo memo;
  MappingTable mappings;
  // The block that is being gathered: what frames refer to, then interner.pending(), then the rest.
  std::string places;
  std::string records;
  std::uint32_t sequence = 0;
  std::uint64_t written = 0;  // bytes of whole blocks
  std::uint64_t block_start_ns = 0;
  std::uint32_t images = 0;
  std::uint32_t mapping_count = 0;
  bool finished = false;
  std::optional<Error> error;
  Sample sample;  // reused

  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] Result<void> write(std::string_view bytes);
  [[nodiscard]] Result<void> write_block(BlockKind kind, std::string_view payload);
  [[nodiscard]] Result<void> flush();
  [[nodiscard]] Result<void> flush_if_due(std::uint64_t now_ns);
  [[nodiscard]] StackRef intern(const Stack& stack, std::uint64_t address_space);
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

Result<void> Writer::State::flush() {
  RINGSIDE_TRY(check());
  const StackInterner::Pending& pending = interner.pending();
  if (places.empty() && records.empty() && pending.frames.empty() && pending.nodes.empty())
    return {};
  std::string payload = std::move(places);
  places.clear();
  encode(pending, payload);
  payload += records;
  interner.clear_pending();
  records.clear();
  return write_block(BlockKind::kRecords, payload);
}

Result<void> Writer::State::flush_if_due(std::uint64_t now_ns) {
  const StackInterner::Pending& pending = interner.pending();
  const std::size_t size = places.size() + records.size() +
                           kBytesPerPendingNode * (pending.frames.size() + pending.nodes.size());
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

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() {
  if (state_ && !state_->finished) (void)state_->flush();
}

Result<Writer> Writer::create(const std::filesystem::path& path, const Header& header) {
  RINGSIDE_ASSIGN(Output output, open_output(path));
  auto state = std::make_unique<State>(std::move(output));
  std::string payload;
  encode(header, payload);
  RINGSIDE_TRY(state->write(
      file_header() + state->encoder.encode(BlockKind::kRecords, state->sequence++, payload)));
  return Writer(std::move(state));
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
  Sample& sample = state_->sample;
  sample.info = info;
  sample.stacks.clear();
  for (const Stack* part : parts)
    sample.stacks.push_back(state_->intern(*part, info.address_space));
  encode(sample, state_->records);
  return state_->flush_if_due(info.time_ns);
}

Result<void> Writer::add_capture(const wire::Capture& capture) {
  RINGSIDE_TRY(state_->check());
  encode(capture, state_->records);
  return state_->flush_if_due(capture.host_time_ns);
}

Result<void> Writer::add_epoch(const GuestEpoch& epoch) {
  RINGSIDE_TRY(state_->check());
  encode(epoch, state_->records);
  return state_->flush_if_due(epoch.time_ns);
}

Result<void> Writer::add_thread_name(const ThreadName& name) {
  RINGSIDE_TRY(state_->check());
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

Result<void> Writer::add_event(const Event& event, const Stack* stack) {
  RINGSIDE_TRY(state_->check());
  Event stored = event;
  stored.stack = stack != nullptr ? state_->intern(*stack, 0) : StackRef{};
  encode(stored, state_->records);
  return state_->flush_if_due(event.time_ns);
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

}  // namespace ringside::recording
