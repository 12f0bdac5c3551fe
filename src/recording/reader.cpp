#include "recording/reader.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "recording/block.h"
#include "recording/blocks_ahead.h"
#include "recording/codec/fields.h"
#include "recording/replay.h"

namespace ringside::recording {
namespace {

constexpr std::size_t kMaxDamageTexts = 8;

// The major version.
Result<std::uint16_t> check_file_header(Bytes bytes, const std::string& name) {
  if (bytes.empty())
    return fail(ErrorCode::kFormat, "{} is empty: `ringside record` writes recordings", name);
  const std::size_t magic_size = std::min(bytes.size(), kFileMagic.size());
  if (std::memcmp(bytes.data(), kFileMagic.data(), magic_size) != 0)
    return fail(ErrorCode::kFormat,
                "{} is not a recording of ringside; `ringside import` reads other formats", name);
  if (bytes.size() < kFileHeaderSize)
    return fail(ErrorCode::kTruncated, "{} is cut off after {} bytes: nothing was recorded", name,
                bytes.size());
  ByteReader reader(bytes.subspan(kFileMagic.size()));
  const auto major = *reader.read<std::uint16_t>();
  const auto minor = *reader.read<std::uint16_t>();
  if (major < kOldestMajorVersion || major > kMajorVersion)
    return fail(ErrorCode::kUnsupported,
                "{} has format {}.{}, this ringside reads {}.x to {}.x: use the version that "
                "recorded it",
                name, major, minor, kOldestMajorVersion, kMajorVersion);
  return major;
}

// Where the next intact header starts, at or behind `from`; the end of the bytes if there is none.
std::size_t find_block(Bytes bytes, std::size_t from) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view magic(reinterpret_cast<const char*>(&kBlockMagic), sizeof(kBlockMagic));
  for (std::size_t at = text.find(magic, from); at != std::string_view::npos;
       at = text.find(magic, at + 1))
    if (parse_block_header(bytes.subspan(at))) return at;
  return bytes.size();
}

std::optional<Header> find_header(std::string_view payload) {
  try {
    protozero::pbf_reader records(payload.data(), payload.size());
    while (records.next(fields::records::kHeader))
      if (records.wire_type() == protozero::pbf_wire_type::length_delimited)
        return decode_header(records.get_message());
      else
        records.skip();
  } catch (const protozero::exception&) {
  }
  return std::nullopt;
}

}  // namespace

Result<Reader> Reader::open(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fail_errno(path.string());
  RINGSIDE_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::map(fd.get(), path.string()));
  RINGSIDE_ASSIGN(Reader reader, open(file->bytes(), path.string()));
  reader.file_ = std::move(file);
  reader.fd_ = std::move(fd);
  return reader;
}

Result<Reader> Reader::open(Bytes bytes, std::string name) {
  RINGSIDE_ASSIGN(const std::uint16_t major, check_file_header(bytes, name));
  Reader reader;
  reader.major_ = major;
  reader.bytes_ = bytes;
  reader.name_ = std::move(name);
  RINGSIDE_TRY(reader.scan());
  return reader;
}

void Reader::report_damage(std::size_t offset, std::string_view what) {
  if (damage_count_++ < kMaxDamageTexts)
    damage_.push_back(fmt::format("at offset {:#x}: {}", offset, what));
}

void Reader::read_header(std::size_t offset, std::string_view missing) {
  const auto block = parse_block_header(bytes_.subspan(offset));
  BlockDecoder decoder;
  const auto payload =
      decoder.decode(*block, bytes_.subspan(offset + kBlockHeaderSize, block->stored_size));
  if (auto found = payload ? find_header(*payload) : std::nullopt)
    header_ = std::move(*found);
  else
    report_damage(offset, missing);
}

Result<void> Reader::scan() {
  std::size_t offset = kFileHeaderSize;
  std::uint32_t expected = 0;
  std::optional<std::size_t> head;       // of the block that has the header
  std::optional<std::size_t> last_head;  // that replaces it
  // Headers that claim each other's bytes would have each byte hashed many times: the blocks of a
  // file that is only damaged do not overlap. Beyond that a damaged block is taken at its word.
  std::size_t may_hash_again = bytes_.size();
  while (offset < bytes_.size()) {
    const auto header = parse_block_header(bytes_.subspan(offset));
    if (!header) {
      const std::size_t next = find_block(bytes_, offset);
      report_damage(offset, next == bytes_.size()
                                ? fmt::format("the last {} bytes are no whole block", next - offset)
                                : fmt::format("{} bytes are no block", next - offset));
      if (next == bytes_.size()) ++lost_blocks_;
      offset = next;
      continue;
    }
    const Bytes rest = bytes_.subspan(offset + kBlockHeaderSize);
    const bool fits = rest.size() >= header->stored_size;
    if (!fits || !payload_is_intact(*header, rest.first(header->stored_size))) {
      const std::size_t hashed = fits ? header->stored_size : 0;
      const bool overlaps = hashed > may_hash_again;
      may_hash_again -= overlaps ? 0 : hashed;
      const std::size_t next =
          find_block(bytes_, offset + kBlockHeaderSize + (overlaps ? hashed : 0));
      report_damage(offset, fits ? fmt::format("block {} is damaged", header->sequence)
                                 : fmt::format("block {} is cut off, {} of its {} bytes are there",
                                               header->sequence, rest.size(), header->stored_size));
      if (next == bytes_.size()) ++lost_blocks_;
      offset = next;
      continue;
    }
    if (header->sequence != expected) {
      // A gap that is not behind a damaged place is damage of its own.
      const std::uint32_t missing = header->sequence - expected;
      if (missing < (1u << 31)) lost_blocks_ += missing;
      report_damage(offset,
                    fmt::format("block {} follows, {} was expected", header->sequence, expected));
    }
    expected = header->sequence + 1;
    if (!finished_) end_ = offset + kBlockHeaderSize + header->stored_size;
    if (header->kind == static_cast<std::uint16_t>(BlockKind::kRecords)) {
      if (blocks_.empty()) head = offset;
      blocks_.push_back(offset);
    } else if (header->kind == static_cast<std::uint16_t>(BlockKind::kHead)) {
      last_head = offset;
    } else if (header->kind == static_cast<std::uint16_t>(BlockKind::kEnd)) {
      finished_ = true;
    }
    offset += kBlockHeaderSize + header->stored_size;
  }
  if (head) read_header(*head, "the header of the recording is missing");
  if (last_head)
    read_header(*last_head, "a block that replaces the header has none: the first one is taken");
  if (blocks_.empty())
    return fail(ErrorCode::kTruncated, "{} holds no whole block: nothing was recorded", name_);
  return {};
}

std::string Reader::damage() const {
  if (complete()) return {};
  std::string text = fmt::format("{}", fmt::join(damage_, "; "));
  if (damage_count_ > damage_.size())
    text += fmt::format("; and {} more", damage_count_ - damage_.size());
  if (!finished_) text += (text.empty() ? "" : "; ") + std::string("its writer did not finish it");
  return text;
}

Result<void> Reader::for_each(Visitor& visitor) {
  Replay replay(visitor, header_, major_, ReplayLimits::of_file(bytes_.size()));
  BlocksAhead blocks(bytes_, blocks_, major_ > 1);
  while (replay.takes_blocks()) {
    DecodedBlock* const block = blocks.next();
    if (block == nullptr) break;
    if (!block->error.empty()) {
      visitor.warning(fmt::format("{}: {}", name_, block->error));
      continue;
    }
    try {
      replay.block(block->payload, block->decoded());
    } catch (const protozero::exception& error) {
      visitor.warning(
          fmt::format("{}: block {} holds no records: {}", name_, block->sequence, error.what()));
    }
  }
  if (has_shrunk())
    return fail(ErrorCode::kTruncated,
                "{} became shorter while it was read: read it again when nobody writes to it",
                name_);
  if (const std::string wrong = replay.contradiction(); !wrong.empty())
    return fail(ErrorCode::kFormat,
                "{}: its counts are damaged: {}; no share of them is right, so nothing is shown",
                name_, wrong);
  return {};
}

// Its writer takes back half a block from a full disk, which lies behind the last whole one.
bool Reader::has_shrunk() const {
  struct stat info {};
  return fd_.valid() && ::fstat(fd_.get(), &info) == 0 &&
         static_cast<std::uint64_t>(info.st_size) < end_;
}

}  // namespace ringside::recording
