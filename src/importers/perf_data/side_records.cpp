#include "importers/perf_data/side_records.h"

#include <algorithm>

#include "base/byte_cursor.h"

namespace ringside::importers::perf_data {
namespace {

constexpr std::size_t kInodeFields = 24;  // device, number, generation
constexpr std::uint32_t kExecutable = 4;  // PROT_EXEC

// Up to a NUL, or to the end.
std::string_view read_text(ByteCursor& cursor) {
  const Bytes rest = cursor.read_bytes(cursor.remaining());
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace

std::optional<MapRecord> read_map(RecordType type, std::uint16_t misc, Bytes body) {
  ByteCursor cursor(body);
  MapRecord map;
  map.pid = cursor.read<std::uint32_t>();
  cursor.skip(4);  // tid
  map.start = cursor.read<std::uint64_t>();
  map.size = cursor.read<std::uint64_t>();
  map.file_offset = cursor.read<std::uint64_t>();
  map.is_data = (misc & kMiscData) != 0;
  if (type == RecordType::kMmap2) {
    const Bytes file = cursor.read_bytes(kInodeFields);
    map.is_data |= (cursor.read<std::uint32_t>() & kExecutable) == 0;
    cursor.skip(4);  // flags
    if (cursor.failed()) return std::nullopt;
    if ((misc & kMiscBuildId) != 0) {
      const std::size_t size = std::min(kMostBuildId, std::to_integer<std::size_t>(file[0]));
      map.build_id = file.subspan(4, size);
    } else {
      map.inode = file;
    }
  }
  if (cursor.failed()) return std::nullopt;
  map.path = read_text(cursor);
  return map;
}

std::optional<CommRecord> read_comm(Bytes body) {
  ByteCursor cursor(body);
  CommRecord comm;
  comm.pid = cursor.read<std::uint32_t>();
  comm.tid = cursor.read<std::uint32_t>();
  if (cursor.failed()) return std::nullopt;
  comm.name = read_text(cursor);
  return comm;
}

std::optional<ForkRecord> read_fork(Bytes body) {
  ByteCursor cursor(body);
  ForkRecord fork;
  fork.pid = cursor.read<std::uint32_t>();
  fork.parent_pid = cursor.read<std::uint32_t>();
  fork.tid = cursor.read<std::uint32_t>();
  fork.parent_tid = cursor.read<std::uint32_t>();
  return cursor.failed() ? std::nullopt : std::optional(fork);
}

std::optional<KsymbolRecord> read_ksymbol(Bytes body) {
  constexpr std::uint16_t kUnregister = 1;
  ByteCursor cursor(body);
  KsymbolRecord symbol;
  symbol.address = cursor.read<std::uint64_t>();
  symbol.size = cursor.read<std::uint32_t>();
  cursor.skip(2);  // its kind
  symbol.is_gone = (cursor.read<std::uint16_t>() & kUnregister) != 0;
  if (cursor.failed()) return std::nullopt;
  symbol.name = read_text(cursor);
  return symbol;
}

std::optional<CgroupRecord> read_cgroup(Bytes body) {
  ByteCursor cursor(body);
  CgroupRecord cgroup;
  cgroup.id = cursor.read<std::uint64_t>();
  if (cursor.failed()) return std::nullopt;
  cgroup.path = read_text(cursor);
  return cgroup;
}

std::optional<LostRecord> read_lost(RecordType type, Bytes body) {
  ByteCursor cursor(body);
  LostRecord lost;
  if (type == RecordType::kLost) lost.id = cursor.read<std::uint64_t>();
  lost.count = cursor.read<std::uint64_t>();
  return cursor.failed() ? std::nullopt : std::optional(lost);
}

}  // namespace ringside::importers::perf_data
