#pragma once

#include <protozero/types.hpp>

// Field numbers of the recording's messages. recording.proto is the schema, and
// tests/schema_rule.py compares: a message's namespace is its name, behind that of the message in
// which it stands.
namespace ringside::recording::fields {

using Tag = protozero::pbf_tag_type;

namespace records {
enum : Tag {
  kHeader = 1,
  kImage = 2,
  kMapping = 3,
  kFrames = 4,
  kStackNodes = 5,
  kSample = 6,
  kEpoch = 7,
  kBlobPiece = 8,
  kThreadName = 10,
  kStatistics = 11,
  kWarning = 12,
  kCapture = 13,
  kClock = 14,
  kClockTie = 15,
  kSource = 16,
  kTexts = 17,
  kThreads = 18,
  kStackLists = 19,
  kContexts = 20,
  kSampleBatch = 21,
  kSnapshot = 22,
  kEventType = 23,
  kEventBatch = 24,
  kCounterSet = 25,
  kMark = 26,
  kCounterBatch = 27,
  kImageFunction = 28,
};
}
namespace header {
enum : Tag {
  kRingsideVersion = 1,
  kCommandLine = 2,
  kStartWallNs = 3,
  kStartMonotonicNs = 4,
  kArch = 5,
  kVcpuCount = 6,
  kIntervalNs = 7,
  kEngine = 8,
  kGuestOs = 9,
  kKernel = 10,
  kHost = 11,
  kQemuVersion = 12,
  kKernelRelease = 13,
  kKernelBuildId = 14,
  kDeterministicSeed = 15,
};
}
namespace image {
enum : Tag {
  kId = 1,
  kName = 2,
  kPath = 3,
  kBuildId = 4,
  kArch = 5,
  kLoadBias = 6,
  kSize = 7,
  kCodeHash = 8,
};
}
namespace mapping {
enum : Tag {
  kId = 1,
  kImage = 2,
  kStart = 3,
  kEnd = 4,
  kFileOffset = 5,
  kValidFromNs = 6,
  kAddressSpace = 7,
};
}
namespace frames {
enum : Tag {
  kFirstId = 1,
  kAddress = 2,
  kTraits = 3,
  kImage = 4,
  kMapping = 5,
  kFunction = 6,
  kFile = 7,
  kLine = 8,
};
}
namespace stack_nodes {
enum : Tag { kFirstId = 1, kParent = 2, kFrame = 3 };
}
namespace clock {
enum : Tag { kId = 1, kKind = 2, kName = 3, kFrequency = 4 };
}
namespace clock_tie {
enum : Tag { kClock = 1, kAt = 2, kOther = 3, kOtherAt = 4 };
}
namespace value_type {
enum : Tag { kName = 1, kUnit = 2, kScale = 3 };
}
namespace source {
enum : Tag {
  kId = 1,
  kName = 2,
  kKind = 3,
  kClock = 4,
  kPeriod = 5,
  kEngine = 6,
  kValue = 7,
};
}
namespace texts {
enum : Tag { kFirstId = 1, kText = 2 };
}
namespace threads {
enum : Tag { kFirstId = 1, kPid = 2, kTid = 3, kStartNs = 4 };
}
namespace stack_lists {
enum : Tag { kFirstId = 1, kNode = 2, kRest = 3, kEnds = 4, kStoppedAt = 5 };
}
namespace contexts {
enum : Tag {
  kFirstId = 1,
  kTraits = 2,
  kThread = 3,
  kVcpu = 4,
  kWaitsFor = 5,
  kAddressSpace = 6,
  kStacks = 7,
};
}
namespace sample_batch {
enum : Tag { kSource = 1, kTime = 2, kContext = 3, kPause = 4, kValues = 5 };
}
namespace event_type {
enum : Tag { kId = 1, kName = 2, kSource = 3, kField = 4 };
}
namespace event_type_field {
enum : Tag { kName = 1, kType = 2, kUnit = 3 };
}
namespace event_batch {
enum : Tag {
  kType = 1,
  kSnapshot = 2,
  kTime = 3,
  kContext = 4,
  kDuration = 5,
  kKey = 6,
  kColumn = 7,
};
}
namespace event_batch_column {
enum : Tag { kNumber = 1, kBytes = 2 };
}
namespace snapshot {
enum : Tag { kId = 1, kTime = 2, kClock = 3, kReason = 4 };
}
namespace counter_set {
enum : Tag { kId = 1, kName = 2, kSource = 3, kKey = 4 };
}
namespace counter_set_key_part {
enum : Tag { kName = 1, kKind = 2 };
}
namespace mark {
enum : Tag { kId = 1, kKind = 2, kTime = 3, kName = 4 };
}
namespace counter_batch {
enum : Tag { kSet = 1, kMark = 2, kKey = 3, kValues = 4 };
}
namespace counter_batch_key {
enum : Tag { kPart = 1 };
}
namespace counter_batch_values {
enum : Tag { kValue = 1 };
}
namespace sample_batch_values {
enum : Tag { kValue = 1 };
}
namespace sample {
enum : Tag {
  kTimeNs = 1,
  kVcpu = 2,
  kLevel = 3,
  kDisposition = 4,
  kPauseNs = 5,
  kWeight = 6,
  kUnit = 7,
  kAddressSpace = 8,
  kPid = 9,
  kTid = 10,
  kStack = 11,
};
}
namespace stack {
enum : Tag { kNode = 1, kStop = 2, kStoppedAt = 3 };
}
namespace epoch {
enum : Tag { kTimeNs = 1, kReason = 2, kLoadBias = 3 };
}
namespace image_function {
enum : Tag { kImage = 1, kAddress = 2, kSize = 3, kName = 4, kInFile = 5 };
}
namespace blob_piece {
enum : Tag { kKind = 1, kImage = 2, kOffset = 3, kTotalSize = 4, kContent = 5 };
}
namespace thread_name {
enum : Tag {
  kTimeNs = 1,
  kPid = 2,
  kTid = 3,
  kAddressSpace = 4,
  kName = 5,
  kCgroup = 6,
  kOfMany = 7
};
}
namespace capture {
enum : Tag {
  kTimeNs = 1,
  kVcpu = 2,
  kArch = 3,
  kLevel = 4,
  kDisposition = 5,
  kPauseNs = 6,
  kWeight = 7,
  kValidRegisters = 8,
  kRegister = 9,
  kPiece = 10,
};
}
namespace capture_piece {
enum : Tag { kAddress = 1, kKind = 2, kRequested = 3, kContent = 4 };
}
namespace statistics {
enum : Tag {
  kDue = 1,
  kLost = 2,
  kLate = 3,
  kDurationNs = 4,
  kSymbolNs = 5,
  kCounter = 6,
  kSource = 7,
};
}
namespace statistics_counter {
enum : Tag { kName = 1, kValue = 2 };
}

}  // namespace ringside::recording::fields
