#pragma once

#include <string>
#include <vector>

#include "exporters/sink.h"
#include "profile/frame_namer.h"
#include "recording/reader.h"

namespace ringside::exporters {

// Every sample, event and counter by itself, in the order of the recording: one JSON object a line,
// for scripts that need what sums do not show. docs/recording-format.md names the fields. Names are
// sanitized as everywhere (profile/sanitize.h). Returns sentences about what was left out.
[[nodiscard]] Result<std::vector<std::string>> write_json_lines(recording::Reader& reader,
                                                                profile::FrameNamer& namer,
                                                                Sink& sink);

}  // namespace ringside::exporters
