#pragma once

#include <vector>

#include "importers/firefox/profile.h"

// Where the values of a profile stand, as states of the JSON reader.
namespace ringside::importers::firefox {

enum State : JsonState {
  kFile = kJsonDocument,
  kMeta,
  kVersion,
  kRawVersion,
  kProduct,
  kPlatform,
  kArguments,
  kInterval,
  kStartTime,
  kMonotonicStart,
  kCpus,
  kSampleUnits,
  kTimeUnit,
  kCategories,
  kCategory,
  kCategoryName,
  kLibraries,
  kLibrary,
  kLibraryName,
  kLibraryPath,
  kLibraryArch,
  kLibraryCodeId,
  kShared,
  kThreads,
  kThread,
  kThreadName,
  kProcessName,
  kPid,
  kTid,
  kStackTable,
  kFrameTable,
  kFunctionTable,
  kResourceTable,
  kSourceTable,
  kStrings,
  kString,
  // The samples of each SampleKind, in its order, and their columns.
  kSamples,
  kLastSamples = kSamples + kSampleKinds - 1,
  kSampleStacks,
  kSampleStack,
  kSampleTimes,
  kSampleTime,
  kTimeDeltas,
  kTimeDelta,
  kWeights,
  kWeight,
  kWeightType,
  // Columns of Tables that need a look: parents and addresses.
  kParents,
  kParent,
  kParentOffsets,
  kParentOffset,
  kAddresses,
  kAddress,
  // Columns of indexes, as index_columns() has them: their arrays, then the elements of these.
  kIndexes,
  kIndex = kIndexes + 32
};

// A column whose values are indexes, or null.
struct IndexColumn {
  JsonState table = kJsonSkipped;
  const char* name = "";
  Column<std::uint32_t> Tables::*column = nullptr;
};
[[nodiscard]] std::span<const IndexColumn> index_columns();

[[nodiscard]] std::vector<JsonField> profile_fields();

}  // namespace ringside::importers::firefox
