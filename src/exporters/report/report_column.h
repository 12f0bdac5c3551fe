#pragma once

#include <cstdint>

namespace ringside::exporters {

// A column of `ringside report --stdio`; report_layout.cpp has its heading and its width.
enum class ReportColumn : std::uint8_t {
  kOverhead,
  kSelf,  // the same, beside kChildren
  kChildren,
  kSys,
  kUser,
  kGuestSys,
  kGuestUser,
  kSamples,
  kPeriod,
  kComm,
  kCgroup,
  kTask,  // perf's pid: the number and the name of a thread
  kTid,
  kPid,
  kVcpu,
  kTime,  // when a span of time began
  kDso,
  kSourceLine,
  kSymbol,  // with the letter of its kind
  kParent,
};

}  // namespace ringside::exporters
