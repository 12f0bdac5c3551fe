#pragma once

#include <cstdint>

// Field numbers of profile.proto (github.com/google/pprof, proto/profile.proto, November 2024).
namespace ringside::formats::pprof {

enum Profile : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15
};
enum ValueType : std::uint32_t { kType = 1, kUnit = 2 };
enum Sample : std::uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };
enum Label : std::uint32_t { kKey = 1, kText = 2, kNumber = 3 };
enum Mapping : std::uint32_t {
  kMappingId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFileOffset = 4,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10
};
enum Location : std::uint32_t { kLocationNumber = 1, kMappingOf = 2, kAddress = 3, kLine = 4 };
enum Line : std::uint32_t { kFunctionOf = 1, kLineNumber = 2 };
enum Function : std::uint32_t { kFunctionId = 1, kName = 2, kSystemName = 3, kFile = 4 };

}  // namespace ringside::formats::pprof
