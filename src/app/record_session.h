#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/launch_end.h"
#include "app/settings/sampling_settings.h"
#include "base/result.h"
#include "session/one_shot.h"

namespace ringside::app {

struct RecordRequest {
  const SamplingSettings& settings;
  const std::vector<std::string>& command;  // to start QEMU; empty: attach with settings.gdb
  std::filesystem::path output;             // the recording
  std::string verb;                         // for messages
  std::filesystem::path command_folder;     // where `command` is started; empty: here
};

// Result of a recording session once its recording is whole; QEMU may still run.
struct RecordSummary {
  std::uint64_t samples = 0;
  std::uint64_t events = 0;
  // With SamplingSettings::one_shot, as RecordResult has them.
  std::uint64_t rounds = 0;
  std::vector<session::OneShot::Gap> gaps;
  std::string silence;  // why there is no sample, where that is seen while it records; else empty
};

// There is no sample: for the reason that was seen while it recorded, or else for `why`, a clause
// that may be empty.
[[nodiscard]] Error without_samples(const RecordSummary& summary, const std::string& why);

// Gets into the guest, records, and leaves the guest running. `on_recorded` is called as soon as
// the recording is whole, while QEMU may still run. Errors that came after the recording began
// leave it whole; one that has been shown already, because QEMU ran on, has an empty message.
// `end` is for the exit status, where there is a command.
[[nodiscard]] Result<void> record_guest(
    const RecordRequest& request,
    const std::function<Result<void>(const RecordSummary&)>& on_recorded, LaunchEnd& end);

}  // namespace ringside::app
