#include "importers/firefox/profile_fields.h"

#include <array>

namespace ringside::importers::firefox {
namespace {

constexpr std::array<IndexColumn, 16> kColumns = {{
    {kStackTable, "frame", &Tables::stack_frames},
    {kFrameTable, "lib", &Tables::frame_libraries},
    {kFrameTable, "flags", &Tables::frame_flags},
    {kFrameTable, "inlineDepth", &Tables::frame_depths},
    {kFrameTable, "category", &Tables::frame_categories},
    {kFrameTable, "func", &Tables::frame_functions},
    {kFrameTable, "line", &Tables::frame_lines},
    {kFunctionTable, "name", &Tables::function_names},
    {kFunctionTable, "resource", &Tables::function_resources},
    {kFunctionTable, "fileName", &Tables::function_files},
    {kFunctionTable, "source", &Tables::function_sources},
    {kFunctionTable, "lineNumber", &Tables::function_lines},
    {kFunctionTable, "flags", &Tables::function_flags},
    {kResourceTable, "lib", &Tables::resource_libraries},
    {kResourceTable, "name", &Tables::resource_names},
    {kSourceTable, "filename", &Tables::source_files},
}};
static_assert(kColumns.size() <= kIndex - kIndexes);

constexpr std::array<JsonField, 29> kFields = {{
    {kFile, "meta", kMeta},
    {kFile, "libs", kLibraries},
    {kFile, "shared", kShared},
    {kFile, "threads", kThreads},
    {kMeta, "preprocessedProfileVersion", kVersion},
    {kMeta, "version", kRawVersion},
    {kMeta, "product", kProduct},
    {kMeta, "platform", kPlatform},
    {kMeta, "arguments", kArguments},
    {kMeta, "interval", kInterval},
    {kMeta, "startTime", kStartTime},
    {kMeta, "startTimeAsClockMonotonicNanosecondsSinceBoot", kMonotonicStart},
    {kMeta, "logicalCPUs", kCpus},
    {kMeta, "sampleUnits", kSampleUnits},
    {kSampleUnits, "time", kTimeUnit},
    {kMeta, "categories", kCategories},
    {kCategories, "[]", kCategory},
    {kCategory, "name", kCategoryName},
    {kLibraries, "[]", kLibrary},
    {kLibrary, "name", kLibraryName},
    {kLibrary, "path", kLibraryPath},
    {kLibrary, "arch", kLibraryArch},
    {kLibrary, "codeId", kLibraryCodeId},
    {kThreads, "[]", kThread},
    {kThread, "name", kThreadName},
    {kThread, "processName", kProcessName},
    {kThread, "pid", kPid},
    {kThread, "tid", kTid},
    {kStrings, "[]", kString},
}};

// Tables that both a thread and the profile may have.
constexpr std::array<JsonField, 6> kTables = {{{kShared, "stackTable", kStackTable},
                                               {kShared, "frameTable", kFrameTable},
                                               {kShared, "funcTable", kFunctionTable},
                                               {kShared, "resourceTable", kResourceTable},
                                               {kShared, "sources", kSourceTable},
                                               {kShared, "stringArray", kStrings}}};

constexpr std::array<const char*, kSampleKinds> kSampleTables = {"samples", "nativeAllocations",
                                                                 "jsAllocations"};

void add_array(std::vector<JsonField>& fields, JsonState in, const char* name, JsonState array,
               JsonState element) {
  fields.push_back({in, name, array});
  fields.push_back({array, "[]", element});
}

void add_samples(std::vector<JsonField>& fields, JsonState samples) {
  // The states of the columns are those of all kinds: their elements have fields once.
  fields.push_back({samples, "stack", kSampleStacks});
  fields.push_back({samples, "time", kSampleTimes});
  fields.push_back({samples, "timeDeltas", kTimeDeltas});
  fields.push_back({samples, "weight", kWeights});
  fields.push_back({samples, "weightType", kWeightType});
}

}  // namespace

std::span<const IndexColumn> index_columns() { return kColumns; }

std::vector<JsonField> profile_fields() {
  std::vector<JsonField> fields(kFields.begin(), kFields.end());
  for (const JsonField& table : kTables) {
    fields.push_back(table);
    fields.push_back({kThread, table.name, table.value});
  }
  for (std::size_t kind = 0; kind < kSampleKinds; ++kind) {
    const auto samples = static_cast<JsonState>(kSamples + kind);
    fields.push_back({kThread, kSampleTables[kind], samples});
    add_samples(fields, samples);
  }
  fields.push_back({kSampleStacks, "[]", kSampleStack});
  fields.push_back({kSampleTimes, "[]", kSampleTime});
  fields.push_back({kTimeDeltas, "[]", kTimeDelta});
  fields.push_back({kWeights, "[]", kWeight});
  add_array(fields, kStackTable, "prefix", kParents, kParent);
  add_array(fields, kStackTable, "prefixOffset", kParentOffsets, kParentOffset);
  add_array(fields, kFrameTable, "address", kAddresses, kAddress);
  for (std::size_t i = 0; i < kColumns.size(); ++i)
    add_array(fields, kColumns[i].table, kColumns[i].name, static_cast<JsonState>(kIndexes + i),
              static_cast<JsonState>(kIndex + i));
  return fields;
}

}  // namespace ringside::importers::firefox
