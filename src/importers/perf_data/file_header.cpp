#include "importers/perf_data/file_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/byte_cursor.h"

namespace ringside::importers::perf_data {
namespace {

constexpr std::string_view kMagic = "PERFILE2";
constexpr std::string_view kSwapped = "2ELIFREP";
constexpr std::string_view kFirstMagic = "PERFFILE";
constexpr std::uint64_t kPipeSize = 16;   // perf_pipe_file_header
constexpr std::uint64_t kFileSize = 104;  // perf_file_header
constexpr std::uint64_t kSectionSize = 16;

// perf_file_section.
struct Section {
  std::uint64_t at = 0;
  std::uint64_t size = 0;
};

Section read_section(ByteCursor& cursor) {
  Section section;
  section.at = cursor.read<std::uint64_t>();
  section.size = cursor.read<std::uint64_t>();
  return section;
}

// As much of it as the file has.
Bytes bytes_of(Bytes file, Section section) {
  if (section.at >= file.size()) return {};
  return file.subspan(section.at, std::min<std::uint64_t>(section.size, file.size() - section.at));
}

std::vector<std::uint64_t> read_ids(Bytes bytes) {
  std::vector<std::uint64_t> ids;
  ByteCursor cursor(bytes);
  while (cursor.remaining() >= 8) ids.push_back(cursor.read<std::uint64_t>());
  return ids;
}

// An entry is a perf_event_attr and the section of its ids.
Result<void> read_attributes(Bytes file, Section section, std::uint64_t entry_size,
                             Attributes& attributes) {
  const Bytes bytes = bytes_of(file, section);
  if (entry_size <= kSectionSize || bytes.size() < entry_size)
    return fail(ErrorCode::kFormat,
                "offset {:#x}: entries of {} bytes in {} bytes of attributes; at least one whole "
                "event was expected",
                section.at, entry_size, bytes.size());
  std::uint64_t ids_in_all = 0;
  for (std::uint64_t at = 0; bytes.size() - at >= entry_size; at += entry_size) {
    const Bytes entry = bytes.subspan(at, entry_size);
    auto attribute = read_attribute(entry.first(entry_size - kSectionSize));
    if (!attribute)
      return fail(ErrorCode::kFormat, "offset {:#x}: {}", section.at + at,
                  attribute.error().message);
    ByteCursor cursor(entry, entry_size - kSectionSize);
    const Section ids = read_section(cursor);
    // Entries of a damaged file may all name the same ids.
    ids_in_all += ids.size / 8;
    const bool is_sane = ids_in_all <= Attributes::kMostIds;
    attributes.add(std::move(*attribute),
                   is_sane ? read_ids(bytes_of(file, ids)) : std::vector<std::uint64_t>());
  }
  return {};
}

// The table of features stands behind the records: a section for each bit.
void read_features(Bytes file, std::uint64_t table_at, ByteCursor bits, FileHeader& header) {
  ByteCursor table(file);
  table.seek(table_at);
  for (std::uint32_t word = 0; word < 4; ++word) {
    const auto mask = bits.read<std::uint64_t>();
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      if ((mask >> bit & 1) == 0) continue;
      const Section section = read_section(table);
      if (table.failed()) {
        header.warnings.emplace_back("the end of the file, with names of events, is missing");
        return;
      }
      read_feature(64 * word + bit, bytes_of(file, section), header.features, header.attributes);
    }
  }
}

Result<FileHeader> read_file_form(Bytes bytes) {
  FileHeader header;
  ByteCursor cursor(bytes, kMagic.size() + 8);
  const auto entry_size = cursor.read<std::uint64_t>();
  const Section attributes = read_section(cursor);
  Section data = read_section(cursor);
  read_section(cursor);  // names of events, until Linux 3.3
  if (cursor.failed())
    return fail(ErrorCode::kTruncated, "a header of {} bytes, which has {}", bytes.size(),
                kFileSize);
  RINGSIDE_TRY(read_attributes(bytes, attributes, entry_size, header.attributes));
  const bool is_open = data.size == 0;
  if (is_open) data.size = ~std::uint64_t{0};
  header.records_at = data.at;
  header.records = bytes_of(bytes, data);
  if (is_open)
    header.warnings.emplace_back(
        "perf record could not finish the file, so names of events and build ids are missing");
  else if (header.records.size() < data.size)
    header.warnings.push_back(
        fmt::format("the file is cut: {} of {} bytes of records are left, without names of events "
                    "and build ids",
                    header.records.size(), data.size));
  else
    read_features(bytes, data.at + data.size, cursor, header);
  return header;
}

}  // namespace

Form form_of(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kSwapped)) return Form::kBigEndian;
  if (text.starts_with(kFirstMagic)) return Form::kFirst;
  if (!text.starts_with(kMagic) || bytes.size() < kPipeSize) return Form::kNone;
  return ByteCursor(bytes, kMagic.size()).read<std::uint64_t>() == kPipeSize ? Form::kPipe
                                                                             : Form::kFile;
}

Result<FileHeader> read_file_header(Bytes bytes) {
  switch (form_of(bytes)) {
    case Form::kFile:
      return read_file_form(bytes);
    case Form::kPipe: {
      FileHeader header;
      header.records_at = kPipeSize;
      header.records = bytes.subspan(kPipeSize);
      return header;
    }
    case Form::kBigEndian:
      return fail(ErrorCode::kUnsupported,
                  "a perf.data of a big-endian machine, which is not read; give the text of perf "
                  "script instead");
    case Form::kFirst:
      return fail(ErrorCode::kUnsupported,
                  "a perf.data of a perf of before 2011 (magic PERFFILE), which is not read");
    case Form::kNone:
      break;
  }
  return fail(ErrorCode::kFormat, "offset 0: the magic PERFILE2 and a header were expected");
}

}  // namespace ringside::importers::perf_data
