#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/detailed_profile.h"

namespace ringside::exporters::trace_dat {

// The processor's mode: those of PrivilegeLevel, and two that tell more.
enum class Mode : std::uint8_t {
  kInterrupt = static_cast<std::uint8_t>(kPrivilegeLevelCount),
  kIdle,
};
// "{ 0, "unknown" }, { 1, "kernel" }, …": the modes as a format's text lists them.
[[nodiscard]] std::string mode_list();

// Whose time an event is.
struct Task {
  std::int32_t thread = 0;   // -1: nobody's that is known; 0: an idle vCPU's
  std::int32_t process = 0;  // the same
  std::string_view name;
  Mode mode = {};
};

class Tasks {
 public:
  explicit Tasks(profile::DetailedProfile& profile);
  [[nodiscard]] Task of(std::uint32_t group) const;

 private:
  profile::DetailedProfile& profile_;
  std::vector<bool> are_in_interrupt_;  // by group
};

// The lines of saved_cmdlines: "12 dd". A thread has one of its names; 0 has none.
[[nodiscard]] std::string saved_command_lines(const profile::DetailedProfile& profile);

inline constexpr std::size_t kCommonSize = 8;
// The fields that are common to all events, as lines of a format's text.
[[nodiscard]] std::string common_fields();
// Replaces `bytes` with the common fields: kCommonSize bytes.
void begin_event(std::string& bytes, std::uint16_t number, const Task& task);

}  // namespace ringside::exporters::trace_dat
