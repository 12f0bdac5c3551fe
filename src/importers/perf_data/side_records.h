#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/byte_reader.h"
#include "formats/perf_data.h"

// Records about what happens beside the samples. Texts and bytes lie in the record. Each function
// gives nothing for a body that is too short.
namespace ringside::importers::perf_data {

using namespace formats::perf_data;

// MMAP and MMAP2: from now on a file is at these addresses.
struct MapRecord {
  std::uint32_t pid = 0;
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;
  bool is_data = false;  // not executable
  Bytes build_id;        // empty where it says none
  Bytes inode;           // of the file: device, number, generation; empty where it says none
  std::string_view path;
};
[[nodiscard]] std::optional<MapRecord> read_map(RecordType type, std::uint16_t misc, Bytes body);

struct CommRecord {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::string_view name;
};
[[nodiscard]] std::optional<CommRecord> read_comm(Bytes body);

// FORK; EXIT has the same fields.
struct ForkRecord {
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent_tid = 0;
};
[[nodiscard]] std::optional<ForkRecord> read_fork(Bytes body);

// KSYMBOL: code that the kernel has made, or unmade.
struct KsymbolRecord {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  bool is_gone = false;
  std::string_view name;
};
[[nodiscard]] std::optional<KsymbolRecord> read_ksymbol(Bytes body);

struct CgroupRecord {
  std::uint64_t id = 0;
  std::string_view path;
};
[[nodiscard]] std::optional<CgroupRecord> read_cgroup(Bytes body);

// LOST and LOST_SAMPLES.
struct LostRecord {
  std::optional<std::uint64_t> id;  // of the event; LOST_SAMPLES has it in the trailer
  std::uint64_t count = 0;
};
[[nodiscard]] std::optional<LostRecord> read_lost(RecordType type, Bytes body);

}  // namespace ringside::importers::perf_data
