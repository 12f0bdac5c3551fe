#pragma once

#include <cstdint>

#include "app/open_profile.h"
#include "base/result.h"
#include "exporters/sink.h"

namespace ringside::app {

enum class InputList : std::uint8_t { kEvents, kBuildIds };

// Writes a list of the whole input as perf prints it: of a perf.data the one in its head, of all
// else that of the recording, or of what the import makes of it. With `detail` each event has its
// rate, and more where that is recorded. Errors: those of open_recording(), and kUsage where
// filters are set.
[[nodiscard]] Result<void> write_input_list(const ReaderSettings& settings, InputList list,
                                            bool detail, exporters::Sink& sink);

}  // namespace ringside::app
