#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "exporters/sink.h"
#include "recording/reader.h"

namespace ringside::exporters {

// The name of each event or source of a recording on a line, as `perf evlist` prints them. With
// `detail` its rate, its values with their units and the number of its samples stand behind the
// name. Errors: the reader's and the sink's.
[[nodiscard]] Result<void> write_event_list(recording::Reader& reader, bool detail, Sink& sink);

// A line of `perf buildid-list`.
[[nodiscard]] std::string build_id_line(const std::vector<std::byte>& build_id,
                                        const std::string& path);

// The build id and the path of each image that has one, the kernel first, as `perf buildid-list`
// prints them. Errors: as above.
[[nodiscard]] Result<void> write_build_ids(recording::Reader& reader, Sink& sink);

}  // namespace ringside::exporters
