#include "importers/perf_data/features.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "arch/arch_info.h"
#include "base/byte_cursor.h"
#include "formats/perf_data.h"

namespace ringside::importers::perf_data {

using namespace formats::perf_data;
namespace {

constexpr std::size_t kMostWords = 4096;        // of a command line
constexpr std::size_t kMostBuildIds = 1 << 18;  // files
constexpr std::size_t kHeaderSize = 8;          // of a record
constexpr std::size_t kBuildIdField = 24;       // bytes

std::string_view up_to_nul(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

// perf_header_string: its size with padding, and the text with a NUL.
std::string read_text(ByteCursor& cursor) {
  const auto size = cursor.read<std::uint32_t>();
  return std::string(up_to_nul(cursor.read_bytes(size)));
}

// As uname has it.
Arch arch_of_machine(std::string_view machine) {
  if (machine == "x86_64") return Arch::kX86_64;
  if (machine == "aarch64" || machine == "arm64") return Arch::kAArch64;
  if (machine == "riscv64") return Arch::kRiscv64;
  const bool is_i386 = machine.size() == 4 && machine[0] == 'i' && machine.ends_with("86");
  return is_i386 ? Arch::kI386 : Arch::kUnknown;
}

void read_command_line(ByteCursor cursor, Features& features) {
  const auto count = cursor.read<std::uint32_t>();
  features.command_line.clear();
  for (std::uint32_t i = 0; i < count && i < kMostWords; ++i) {
    std::string word = read_text(cursor);
    if (cursor.failed()) return;
    features.command_line.push_back(std::move(word));
  }
}

// Names of events: for each its perf_event_attr, the number of its ids, its name, and the ids.
void read_events(ByteCursor cursor, Attributes& attributes) {
  const auto count = cursor.read<std::uint32_t>();
  const auto attribute_size = cursor.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !cursor.failed(); ++i) {
    cursor.skip(attribute_size);
    const auto ids = cursor.read<std::uint32_t>();
    const std::string name = read_text(cursor);
    for (std::uint32_t n = 0; n < ids; ++n) {
      const auto id = cursor.read<std::uint64_t>();
      if (cursor.failed()) return;
      attributes.set_name(id, name);
    }
    // An event without ids is the only one, or they are told apart by nothing.
    if (ids == 0 && !cursor.failed()) attributes.name_number(i, name);
  }
}

void read_clock_data(ByteCursor cursor, Features& features) {
  cursor.skip(8);  // version, clockid
  const auto wall = cursor.read<std::uint64_t>();
  const auto clock = cursor.read<std::uint64_t>();
  if (cursor.failed()) return;
  features.wall_ns = wall;
  features.clock_ns = clock;
}

// Records one behind the other.
void read_build_ids(ByteCursor cursor, Features& features) {
  while (cursor.remaining() >= kHeaderSize) {
    cursor.skip(4);
    const auto misc = cursor.read<std::uint16_t>();
    const auto size = cursor.read<std::uint16_t>();
    if (size < kHeaderSize) return;
    const Bytes body = cursor.read_bytes(size - kHeaderSize);
    if (cursor.failed()) return;
    read_build_id(misc, body, features);
  }
}

}  // namespace

void read_build_id(std::uint16_t misc, Bytes body, Features& features) {
  ByteCursor cursor(body);
  cursor.skip(4);  // of which guest
  const Bytes field = cursor.read_bytes(kBuildIdField);
  if (cursor.failed() || features.build_ids.size() >= kMostBuildIds) return;
  std::size_t size = kMostBuildId;
  if ((misc & kMiscBuildIdSize) != 0)
    size = std::min(kMostBuildId, std::to_integer<std::size_t>(field[kMostBuildId]));
  const std::string_view path = up_to_nul(cursor.read_bytes(cursor.remaining()));
  const Bytes id = field.first(size);
  if (path.empty() || id.empty()) return;
  const bool is_new =
      features.build_ids
          .insert_or_assign(std::string(path), std::vector<std::byte>(id.begin(), id.end()))
          .second;
  if (is_new) features.build_id_paths.emplace_back(path);
}

void read_feature(std::uint32_t id, Bytes bytes, Features& features, Attributes& attributes) {
  ByteCursor cursor(bytes);
  switch (static_cast<FeatureId>(id)) {
    case FeatureId::kHostname:
      features.host = read_text(cursor);
      break;
    case FeatureId::kRelease:
      features.release = read_text(cursor);
      break;
    case FeatureId::kVersion:
      features.version = read_text(cursor);
      break;
    case FeatureId::kArch:
      features.arch = arch_of_machine(read_text(cursor));
      break;
    case FeatureId::kProcessors:
      cursor.skip(4);  // that there could be
      features.processors = cursor.read<std::uint32_t>();
      break;
    case FeatureId::kCommandLine:
      read_command_line(cursor, features);
      break;
    case FeatureId::kEvents:
      read_events(cursor, attributes);
      break;
    case FeatureId::kClockData:
      read_clock_data(cursor, features);
      break;
    case FeatureId::kBuildIds:
      read_build_ids(cursor, features);
      break;
    case FeatureId::kFolder:
      features.is_of_folder = true;
      break;
    case FeatureId::kSampleTime:  // the samples have it
      break;
  }
}

}  // namespace ringside::importers::perf_data
