#include "exporters/firefox/markers.h"

namespace ringside::exporters::firefox {
namespace {

using wire::Disposition;

Marker marker_of_ticks(const char* name, std::uint64_t start_ns, std::uint64_t end_ns,
                       std::uint64_t ticks) {
  return {name, start_ns, end_ns, fmt::format(R"({{"type":"ticks","ticks":{}}})", ticks)};
}

const char* name_of(Disposition disposition) {
  return disposition == Disposition::kSkipped ? "skipped ticks" : "failed ticks";
}

}  // namespace

std::vector<Marker> missing_ticks(const profile::DetailedProfile& profile,
                                  const SampleColumns& columns, std::size_t source,
                                  std::span<const std::uint32_t> rows, bool finds_lost,
                                  std::uint64_t& lost) {
  const SampleRows& all = columns.of_source(source);
  const std::uint64_t period = profile.sources()[source].source.period;
  std::vector<Marker> markers;
  Disposition open = Disposition::kSampled;  // of the stretch that the last row is in
  std::uint64_t start_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t ticks = 0;
  const auto close = [&] {
    if (ticks != 0) markers.push_back(marker_of_ticks(name_of(open), start_ns, last_ns, ticks));
    ticks = 0;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Disposition disposition = profile.owner_of(all.groups[rows[i]]).disposition;
    const bool is_missing =
        disposition == Disposition::kSkipped || disposition == Disposition::kFailed;
    const std::uint64_t time_ns = columns.time_ns(source, all.times[rows[i]]);
    // Ticks come at any moment of their interval: two neighbours are less than two periods apart.
    const std::uint64_t gap = time_ns - last_ns;
    if (finds_lost && i != 0 && period != 0 && gap / 2 >= period) {
      close();
      const std::uint64_t missing =
          gap / period - 1 + (gap % period >= period - period / 2 ? 1 : 0);
      lost += missing;
      markers.push_back(marker_of_ticks("lost ticks", last_ns, time_ns, missing));
    }
    if (ticks != 0 && (!is_missing || disposition != open)) close();
    if (is_missing && ticks == 0) {
      open = disposition;
      start_ns = time_ns;
    }
    if (is_missing) ++ticks;
    last_ns = time_ns;
  }
  close();
  return markers;
}

}  // namespace ringside::exporters::firefox
