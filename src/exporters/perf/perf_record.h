#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "exporters/parts/binary.h"

// Records of perf.data as bytes. Numbers: linux/perf_event.h, and of those that perf adds
// tools/perf/util/event.h and header.h (Linux 6.1).
namespace ringside::exporters::perf {

enum class RecordType : std::uint32_t {
  kMmap = 1,
  kComm = 3,
  kSample = 9,
  kMmap2 = 10,
  kHeaderAttr = 64,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kEventUpdate = 78,
  kHeaderFeature = 80,
};

// perf_event_header::misc: the mode of the processor, and flags.
inline constexpr std::uint16_t kKernelMode = 1;
inline constexpr std::uint16_t kUserMode = 2;
inline constexpr std::uint16_t kHasBuildId = 1 << 14;      // an MMAP2, instead of the inode
inline constexpr std::uint16_t kHasBuildIdSize = 1 << 15;  // a HEADER_BUILD_ID

// In a call chain: what follows is code of the kernel, of a process.
inline constexpr std::uint64_t kContextKernel = static_cast<std::uint64_t>(-128);
inline constexpr std::uint64_t kContextUser = static_cast<std::uint64_t>(-512);

inline constexpr std::size_t kMostBuildId = 20;  // bytes

// Builds one record at a time.
class RecordBuilder {
 public:
  void begin(RecordType type, std::uint16_t misc) {
    bytes_.clear();
    add(static_cast<std::uint32_t>(type));
    add(misc);
    add(std::uint16_t{0});
  }
  template <std::integral Number>
  void add(Number number) {
    exporters::add(bytes_, number);
  }
  void add_bytes(std::string_view bytes) { bytes_ += bytes; }
  // With a NUL, and as many more as the next number needs to be aligned to 8 bytes.
  void add_text(std::string_view text) {
    bytes_ += text;
    bytes_.append(8 - bytes_.size() % 8, '\0');
  }
  // The whole record, valid until the next begin().
  [[nodiscard]] std::string_view end() {
    const auto size = static_cast<std::uint16_t>(bytes_.size());
    bytes_.replace(6, sizeof size, reinterpret_cast<const char*>(&size), sizeof size);
    return bytes_;
  }

 private:
  std::string bytes_;
};

}  // namespace ringside::exporters::perf
