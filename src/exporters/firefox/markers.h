#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exporters/firefox/sample_rows.h"
#include "exporters/firefox/stack_tables.h"

namespace ringside::exporters::firefox {

// An event in a thread, besides its samples.
struct Marker {
  const char* name;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;  // that of `start_ns` where it has no duration
  std::string data = {};     // JSON
};

// Milliseconds, exactly, as JSON.
[[nodiscard]] std::string milliseconds(std::uint64_t ns);

// The member "markers" of a thread.
void write_markers(JsonText& json, StackTables& tables, std::span<const Marker> markers);
// The same, and all events behind them. Reads the recording again, for their fields.
[[nodiscard]] Result<void> write_event_markers(JsonText& json, StackTables& tables,
                                               std::span<const Marker> markers,
                                               const SampleColumns& columns,
                                               profile::DetailedProfile& profile);

// The member "markerSchema" of the profile's meta information.
void write_marker_schemas(JsonText& json, std::span<const recording::EventType> types);

// Ticks of one vCPU that gave no sample, from the rows of its ticks; with `finds_lost` those of
// which there is no row, too: so many as fit in where it has none, which are added to `lost`.
[[nodiscard]] std::vector<Marker> missing_ticks(const profile::DetailedProfile& profile,
                                                const SampleColumns& columns, std::size_t source,
                                                std::span<const std::uint32_t> rows,
                                                bool finds_lost, std::uint64_t& lost);
// Markers of recorded sentences, such as warnings, and of the long pauses.
[[nodiscard]] std::vector<Marker> notes(const profile::Profile& profile,
                                        std::span<const Pause> pauses);

}  // namespace ringside::exporters::firefox
