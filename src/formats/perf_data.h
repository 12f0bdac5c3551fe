#pragma once

#include <cstddef>
#include <cstdint>

// Numbers of perf.data: those of the kernel are from include/uapi/linux/perf_event.h, those that
// perf adds from tools/lib/perf/include/perf/event.h and tools/perf/util/header.h (Linux 6.18).
namespace ringside::formats::perf_data {

enum class RecordType : std::uint32_t {
  kMmap = 1,
  kLost = 2,
  kComm = 3,
  kExit = 4,
  kFork = 7,
  kSample = 9,
  kMmap2 = 10,
  kLostSamples = 13,
  kKsymbol = 17,
  kCgroup = 19,
  // From 64 on: perf's own. They have no sample id, and stand in no order of time.
  kHeaderAttr = 64,
  kTracingData = 66,
  kBuildId = 67,
  kFinishedRound = 68,
  kAuxtrace = 71,
  kEventUpdate = 78,
  kFeature = 80,
  kCompressed = 81,
  kCompressed2 = 83,  // the same, with its size, padded to 8 bytes
};
inline constexpr std::uint32_t kFirstOwnType = 64;

// perf_event_header::misc.
inline constexpr std::uint16_t kModeMask = 7;
enum class CpuMode : std::uint8_t {
  kUnknown,
  kKernel,
  kUser,
  kHypervisor,
  kGuestKernel,
  kGuestUser,
};
inline constexpr std::uint16_t kMiscData = 1 << 13;         // of an MMAP: no code
inline constexpr std::uint16_t kMiscForkExec = 1 << 13;     // of a FORK: perf found the process
inline constexpr std::uint16_t kMiscBuildId = 1 << 14;      // of an MMAP2, instead of the inode
inline constexpr std::uint16_t kMiscBuildIdSize = 1 << 15;  // of a BUILD_ID

// perf_event_attr::sample_type, in the order of the numbers, which is not that of the fields.
namespace sample {
inline constexpr std::uint64_t kIp = 1;
inline constexpr std::uint64_t kTid = 1 << 1;
inline constexpr std::uint64_t kTime = 1 << 2;
inline constexpr std::uint64_t kAddr = 1 << 3;
inline constexpr std::uint64_t kRead = 1 << 4;
inline constexpr std::uint64_t kCallchain = 1 << 5;
inline constexpr std::uint64_t kId = 1 << 6;
inline constexpr std::uint64_t kCpu = 1 << 7;
inline constexpr std::uint64_t kPeriod = 1 << 8;
inline constexpr std::uint64_t kStreamId = 1 << 9;
inline constexpr std::uint64_t kRaw = 1 << 10;
inline constexpr std::uint64_t kBranchStack = 1 << 11;
inline constexpr std::uint64_t kRegsUser = 1 << 12;
inline constexpr std::uint64_t kStackUser = 1 << 13;
inline constexpr std::uint64_t kWeight = 1 << 14;
inline constexpr std::uint64_t kDataSource = 1 << 15;
inline constexpr std::uint64_t kIdentifier = 1 << 16;
inline constexpr std::uint64_t kTransaction = 1 << 17;
inline constexpr std::uint64_t kRegsIntr = 1 << 18;
inline constexpr std::uint64_t kPhysAddr = 1 << 19;
inline constexpr std::uint64_t kAux = 1 << 20;
inline constexpr std::uint64_t kCgroup = 1 << 21;
inline constexpr std::uint64_t kDataPageSize = 1 << 22;
inline constexpr std::uint64_t kCodePageSize = 1 << 23;
inline constexpr std::uint64_t kWeightStruct = 1 << 24;
}  // namespace sample

// perf_event_attr::read_format.
namespace read_format {
inline constexpr std::uint64_t kTimeEnabled = 1;
inline constexpr std::uint64_t kTimeRunning = 1 << 1;
inline constexpr std::uint64_t kId = 1 << 2;
inline constexpr std::uint64_t kGroup = 1 << 3;
inline constexpr std::uint64_t kLost = 1 << 4;
}  // namespace read_format

// perf_event_attr::branch_sample_type.
namespace branch {
inline constexpr std::uint64_t kCallStack = 1 << 11;
inline constexpr std::uint64_t kHardwareIndex = 1 << 17;
inline constexpr std::uint64_t kCounters = 1 << 19;
}  // namespace branch

// Bits of the flags in perf_event_attr.
inline constexpr std::uint64_t kFlagFrequency = 1 << 10;
inline constexpr std::uint64_t kFlagSampleIdAll = 1 << 18;

// perf_event_attr::type.
inline constexpr std::uint32_t kTypeHardware = 0;
inline constexpr std::uint32_t kTypeSoftware = 1;
inline constexpr std::uint32_t kTypeTracepoint = 2;

// In a call chain: what the addresses behind it are of. They count down from 2^64; so do all
// numbers that are no addresses.
inline constexpr std::uint64_t kContextHypervisor = static_cast<std::uint64_t>(-32);
inline constexpr std::uint64_t kContextKernel = static_cast<std::uint64_t>(-128);
inline constexpr std::uint64_t kContextUser = static_cast<std::uint64_t>(-512);
inline constexpr std::uint64_t kContextGuest = static_cast<std::uint64_t>(-2048);
inline constexpr std::uint64_t kContextGuestKernel = static_cast<std::uint64_t>(-2176);
inline constexpr std::uint64_t kContextGuestUser = static_cast<std::uint64_t>(-2560);
inline constexpr std::uint64_t kLowestContext = static_cast<std::uint64_t>(-4095);

// Bits of the header of a file.
enum class FeatureId : std::uint32_t {
  kBuildIds = 2,
  kHostname = 3,
  kRelease = 4,
  kVersion = 5,
  kArch = 6,
  kProcessors = 7,
  kCommandLine = 11,
  kEvents = 12,
  kSampleTime = 21,
  kFolder = 24,  // the samples are in other files beside it
  kClockData = 29,
};

// As a pid or a processor: of none.
inline constexpr std::uint32_t kNobody = 0xffffffff;
inline constexpr std::size_t kMostBuildId = 20;  // bytes

}  // namespace ringside::formats::perf_data
