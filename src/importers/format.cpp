#include "importers/format.h"

#include <algorithm>

#include "importers/asterinas_json.h"
#include "importers/callgrind/callgrind.h"
#include "importers/firefox/firefox.h"
#include "importers/folded_recording.h"
#include "importers/gdb_text.h"
#include "importers/guest_stream/guest_stream.h"
#include "importers/json_lines/json_lines.h"
#include "importers/maestro_cpu.h"
#include "importers/maestro_memtrace.h"
#include "importers/perf_data/perf_data.h"
#include "importers/perf_script/perf_script.h"
#include "importers/pprof/pprof.h"
#include "importers/redox/redox_rings.h"
#include "importers/speedscope/speedscope.h"

namespace ringside::importers {

bool ImportOptions::is_kernel_code(GuestVirt address) const {
  return std::any_of(kernel_code.begin(), kernel_code.end(), [&](const CodeRange& range) {
    return address >= range.start && address < range.end;
  });
}

std::span<const Format> formats() {
  static const std::vector<Format> kFormats = {
      {"perf-data",
       "what 'perf record' and 'perf kvm record' write",
       perf_data_likeness,
       import_perf_data,
       {"--kernel"}},
      {"perf-script",
       "the text of 'perf script'",
       perf_script_likeness,
       import_perf_script,
       {"--kernel"}},
      {"folded", "folded stacks, a line each", folded_likeness, import_folded, {}},
      {"pprof", "profiles of Go's runtime and others", pprof_likeness, import_pprof, {}},
      {"speedscope", "speedscope's own JSON", speedscope_likeness, import_speedscope, {}},
      {"firefox",
       "processed profiles of the Firefox Profiler",
       firefox_likeness,
       import_firefox,
       {}},
      {"callgrind",
       "valgrind's callgrind.out; its stacks are estimated",
       callgrind_likeness,
       import_callgrind,
       {},
       true},
      {"asterinas-json",
       "captures of Asterinas' profiler",
       asterinas_json_likeness,
       import_asterinas_json,
       {}},
      {"json-lines",
       "ringside's own JSON Lines: samples and events, a line each",
       json_lines_likeness,
       import_json_lines,
       {}},
      {"gdb",
       "what gdb prints for 'thread apply all bt', once or many times",
       gdb_text_likeness,
       import_gdb_text,
       {},
       true},
      {"guest-stream",
       "what a kernel has drained from the rings of ringside's guest library",
       guest_stream_likeness,
       import_guest_stream,
       {"--kernel", "--cpu-freq"},
       true},
      {"redox-a",
       "rings of Redox' kernel profiler until 2026-06-02",
       redox_a_likeness,
       import_redox_a,
       {"--kernel", "--cpu-freq"},
       true,
       false},
      {"redox-b",
       "rings of Redox' kernel profiler since 2026-06-03",
       redox_b_likeness,
       import_redox_b,
       {"--kernel", "--cpu-freq", "--context-names"},
       true,
       false},
      {"maestro",
       "raw data of Maestro's CPU profiler, or of the TCG plugin with out-format=maestro",
       maestro_likeness,
       import_maestro,
       {"--kernel", "--maestro-cut"},
       false,
       false},
      {"maestro-memtrace",
       "allocations, as Maestro's memtrace writes them to a serial port",
       maestro_memtrace_likeness,
       import_maestro_memtrace,
       {"--kernel"}},
  };
  return kFormats;
}

const Format* format_named(std::string_view name) {
  for (const Format& format : formats())
    if (format.name == name) return &format;
  return nullptr;
}

}  // namespace ringside::importers
