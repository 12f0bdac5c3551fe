#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>

#include "profile/detailed_profile.h"

namespace ringside::exporters {

// A part of the text of a sample, or of each of its frames, as `perf script -F` chooses it.
enum class ScriptField : std::uint8_t {
  kComm,
  kPid,
  kTid,
  kTime,
  kCpu,
  kPeriod,
  kEvent,
  kIp,  // the frames; all below is of them
  kSym,
  kSymOffset,
  kDso,
  kSourceLine,
};

class ScriptFields {
 public:
  constexpr ScriptFields(std::initializer_list<ScriptField> fields) {
    for (const ScriptField field : fields) set(field, true);
  }
  [[nodiscard]] constexpr bool has(ScriptField field) const { return (bits_ & bit(field)) != 0; }
  constexpr void set(ScriptField field, bool is_there) {
    bits_ = is_there ? bits_ | bit(field) : bits_ & ~bit(field);
  }
  bool operator==(const ScriptFields&) const = default;

 private:
  static constexpr std::uint32_t bit(ScriptField field) {
    return 1u << static_cast<unsigned>(field);
  }

  std::uint32_t bits_ = 0;
};

// Those of `perf script` without -F.
inline constexpr ScriptFields kUsualScriptFields = {
    ScriptField::kComm,      ScriptField::kTid,    ScriptField::kTime, ScriptField::kCpu,
    ScriptField::kEvent,     ScriptField::kPeriod, ScriptField::kIp,   ScriptField::kSym,
    ScriptField::kSymOffset, ScriptField::kDso};

struct ScriptOptions {
  // From where times count: the clock's own zero, the first sample that is written, or the one
  // before.
  enum class TimeOrigin : std::uint8_t { kClock, kFirst, kPrevious };

  ScriptFields fields = kUsualScriptFields;
  TimeOrigin origin = TimeOrigin::kClock;
  bool nanoseconds = false;      // of times, else microseconds
  bool hide_call_graph = false;  // the leaf alone, on the sample's own line
  // The same where no sample has a caller, as perf writes what was recorded without -g.
  bool may_be_one_line = true;
  std::size_t max_stack = 0;                     // frames, without inlined functions; 0: all
  std::set<std::string, std::less<>> symbols{};  // samples with one of them at the leaf; empty: all
  bool show_idle = false;
  std::string comm{};  // in place of every command's name; empty: those of the recording
  // Writes a frame in place of perf's own lines: whole lines, at least one. Empty: perf's.
  std::function<std::string(const profile::DetailedFrame&)> lines{};
};

}  // namespace ringside::exporters
