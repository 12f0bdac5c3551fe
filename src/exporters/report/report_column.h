#pragma once

#include <cstdint>

namespace ringside::exporters {

// A column of `ringside report --stdio`; report_layout.cpp has its heading and its width.
enum class ReportColumn : std::uint8_t {
  kOverhead,
  kChildren,
  kSamples,
  kComm,
  kCgroup,
  kPid,
  kTid,
  kVcpu,
  kDso,
  kSymbol,  // with its kind
  kParent,
};

}  // namespace ringside::exporters
