#include "exporters/format.h"

#include "exporters/emerald.h"
#include "exporters/firefox/firefox.h"
#include "exporters/flamegraph/svg_flamegraph.h"
#include "exporters/folded.h"
#include "exporters/json_lines.h"
#include "exporters/perf/perf_data.h"
#include "exporters/perf/perf_script.h"
#include "exporters/samples/asterinas_json.h"
#include "exporters/samples/callgrind.h"
#include "exporters/samples/chrome_trace.h"
#include "exporters/samples/pprof.h"
#include "exporters/samples/speedscope.h"
#include "exporters/trace_dat/trace_dat.h"

namespace ringside::exporters {
namespace {

using profile::DetailedProfile;
using profile::Profile;

Result<void> folded(const Profile& profile, const ExportOptions& options, Sink& sink) {
  if (options.folded_style == "emerald") return write_emerald_folded(profile, sink);
  return write_folded(
      profile, {options.per_vcpu, options.show_idle, options.by, options.annotate_kernel}, sink);
}

Result<void> svg(const Profile& profile, const ExportOptions& options, Sink& sink) {
  FlamegraphOptions picture;
  picture.per_vcpu = options.per_vcpu;
  picture.by = options.by;
  picture.show_idle = options.show_idle;
  return write_flamegraph(profile, picture, sink);
}

}  // namespace

std::span<const Format> formats() {
  static const std::vector<Format> kFormats = {
      {"folded",
       {".folded", ".txt"},
       "one line a stack, outermost frame first, and its weight",
       {"--per-cpu", "--show-idle", "--annotate-kernel", "--by", "--folded-style"},
       folded},
      {"json-lines",
       {".jsonl"},
       "every sample with its frames' addresses, one JSON object a line",
       {},
       write_json_lines},
      {"svg", {".svg"}, "a flame graph", {"--per-cpu", "--show-idle", "--by"}, svg},
      {"pprof",
       {".pb.gz", ".pprof"},
       "for 'go tool pprof' and all that read its files",
       {"--show-idle"},
       write_pprof,
       true},
      {"perf-script",
       {".perf-script"},
       "the text of 'perf script': every sample with its stack",
       {"--show-idle", "--redox-style"},
       write_perf_script},
      {"perf-data",
       {".perf.data", ".data"},
       "for 'perf report', 'perf script' and hotspot",
       {"--show-idle"},
       write_perf_data,
       true,
       ".buildid",
       "perf --buildid-dir {folder} report -i {output}",
       true},
      {"speedscope",
       {".speedscope.json"},
       "for speedscope: a profile of each thread and of all",
       {"--show-idle"},
       write_speedscope},
      {"callgrind",
       {".callgrind"},
       "for KCachegrind and callgrind_annotate: costs by function and source line",
       {"--show-idle", "--by"},
       write_callgrind},
      {"chrome-trace",
       {".trace.json"},
       "for Chrome's Performance panel: events, and the samples of each thread",
       {"--show-idle"},
       write_chrome_trace},
      {"trace-dat",
       {".dat"},
       "for 'trace-cmd report' and KernelShark: every sample and event with its stack",
       {"--show-idle"},
       write_trace_dat,
       true},
      {"asterinas-json",
       {".asterinas.json"},
       "the captures of Asterinas' profiler",
       {"--cpu"},
       write_asterinas_json},
      {"firefox",
       {".firefox.json.gz", ".json.gz"},
       "for the Firefox Profiler, as 'ringside view' opens it",
       {},
       write_firefox,
       true,
       nullptr,
       nullptr,
       true},
  };
  return kFormats;
}

const Format* format_named(std::string_view name) {
  for (const Format& format : formats())
    if (format.name == name) return &format;
  return nullptr;
}

}  // namespace ringside::exporters
