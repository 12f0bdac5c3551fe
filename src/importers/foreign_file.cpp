#include "importers/foreign_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/little_endian.h"
#include "base/split.h"

namespace ringside::importers {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kLookedAt = 64 << 10;  // bytes that are looked at

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe"sv) || text.starts_with("\xfe\xff"sv);
}

bool is_hprof(std::string_view text) { return text.starts_with("JAVA PROFILE 1.0."); }

bool is_flight_recording(std::string_view text) { return text.starts_with("FLR\0"sv); }

// Five words: 0, how many follow the second one, the version 0, the period, 0.
template <class Word>
bool begins_with_gperftools_head(std::string_view text) {
  constexpr std::size_t kWords = 5;
  if (text.size() < kWords * sizeof(Word)) return false;
  const auto word = [&](std::size_t i) {
    return load<Word>(as_bytes(text.substr(i * sizeof(Word), sizeof(Word))));
  };
  constexpr Word kLongestPeriod = 10'000'000;  // microseconds
  return word(0) == 0 && word(1) == 3 && word(2) == 0 && word(3) != 0 &&
         word(3) <= kLongestPeriod && word(4) == 0;
}

bool is_gperftools(std::string_view text) {
  return begins_with_gperftools_head<std::uint64_t>(text) ||
         begins_with_gperftools_head<std::uint32_t>(text);
}

// The first character that is no blank.
char first_of(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : text[at];
}

bool is_chrome_trace(std::string_view text) {
  if (first_of(text) == '{') return has(text, "\"traceEvents\"");
  return first_of(text) == '[' && has(text, "\"ph\"") && has(text, "\"ts\"");
}

bool is_v8_profile(std::string_view text) {
  return first_of(text) == '{' && has(text, "\"nodes\"") && has(text, "\"callFrame\"");
}

bool is_perf_dump(std::string_view text) {
  return has(text, "]: event: ") && has(text, "\n. ... raw event: size ");
}

// "              genunix`kmem_cache_free+0xce"
bool is_dtrace_frame(std::string_view line) {
  if (!line.starts_with("  ")) return false;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t quote = line.find('`');
  return quote != 0 && quote != std::string_view::npos && line.find_first_of(" ;") > quote;
}

bool is_dtrace(std::string_view text) {
  constexpr int kEnough = 2;
  int frames = 0;
  for (std::string_view rest = text; !rest.empty() && frames < kEnough;) {
    const std::string_view line = take_line(rest);
    if (line.starts_with("CPU ") && line.ends_with(" FUNCTION:NAME")) return true;
    if (is_dtrace_frame(line)) ++frames;
  }
  return frames == kEnough;
}

bool is_callgrind_without_costs(std::string_view text) {
  return (has(text, "\ncreator: callgrind") || text.starts_with("creator: callgrind")) &&
         has(text, "\nevents: ") && !has(text, "\nfn=") && text.size() < kLookedAt;
}

bool begins_or_has_line(std::string_view text, std::string_view line_begin) {
  if (text.starts_with(line_begin)) return true;
  return has(text, "\n" + std::string(line_begin));
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "@[" or "@name[": the rest of the key stands in the lines below.
bool begins_key_of_bpftrace(std::string_view line) {
  if (!line.starts_with('@') || has(line, "]: ")) return false;
  const std::size_t bracket = line.find('[');
  const std::string_view name = line.substr(1, bracket == std::string_view::npos ? 0 : bracket - 1);
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return bracket != std::string_view::npos && std::all_of(name.begin(), name.end(), is_of_name);
}

// Its maps of stacks: "@[", a frame a line, "]: 12".
bool is_bpftrace(std::string_view text) {
  bool is_in_key = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const std::size_t end = line.rfind("]: ");
    if (is_in_key && end != std::string_view::npos && is_digits(line.substr(end + 3))) return true;
    is_in_key = begins_key_of_bpftrace(line) || (is_in_key && !line.empty());
  }
  return false;
}

bool is_perf_report(std::string_view text) {
  return text.starts_with("#") && has(text, "\n# Samples: ") && has(text, " of event") &&
         (has(text, "\n# Overhead ") || has(text, "\n# Children "));
}

bool is_text_of_pprof(std::string_view text) {
  constexpr std::array<std::string_view, 5> kHeads = {
      "heap profile: ", "--- contention:", "--- mutex:", "goroutine profile: total ",
      "threadcreate profile: total "};
  return std::any_of(kHeads.begin(), kHeads.end(),
                     [&](std::string_view head) { return text.starts_with(head); });
}

// "jdk.ExecutionSample {", and its fields.
bool is_jfr_print(std::string_view text) {
  return begins_or_has_line(text, "jdk.") && has(text, " {\n  startTime = ");
}

bool is_thread_dump(std::string_view text) { return begins_or_has_line(text, "Full thread dump "); }

// Python's marshal: a dictionary whose first key is a tuple of three, a text in front. The upper
// bit of a type is a flag.
bool is_cprofile(std::string_view text) {
  constexpr std::size_t kLooked = 4;
  if (text.size() < kLooked) return false;
  const auto type = [&](std::size_t i) { return static_cast<char>(text[i] & 0x7f); };
  return type(0) == '{' && type(1) == ')' && text[2] == 3 &&
         "aAuzZ"sv.find(type(3)) != std::string_view::npos;
}

bool is_gmon(std::string_view text) { return text.starts_with("gmon\1\0\0\0"sv); }

bool is_massif(std::string_view text) {
  return text.starts_with("desc: ") && has(text, "\ncmd: ") && has(text, "\ntime_unit: ") &&
         has(text, "\nsnapshot=");
}

bool is_v8_heap_profile(std::string_view text) {
  return first_of(text) == '{' && has(text, "\"head\"") && has(text, "\"callFrame\"") &&
         has(text, "\"selfSize\"");
}

struct Foreign {
  bool (*is_it)(std::string_view beginning);
  std::string_view sentence;
};

// Binary ones first: the others look for words.
constexpr std::array<Foreign, 18> kForeign = {{
    {is_utf16,
     "is text in UTF-16, as PowerShell writes it: 'iconv -f UTF-16 -t UTF-8' makes text that "
     "ringside reads"},
    {is_hprof,
     "is a file of Java's hprof: profile with async-profiler, whose 'asprof -o collapsed' writes "
     "folded stacks"},
    {is_flight_recording,
     "is a recording of Java's Flight Recorder (JFR): 'jfrconv -o collapsed' of async-profiler "
     "makes folded stacks of it"},
    {is_gperftools,
     "is a CPU profile of gperftools: 'pprof -proto PROGRAM FILE' makes a profile of pprof, which "
     "ringside reads"},
    {is_cprofile,
     "is a profile in the form of Python's cProfile, which has no stacks: 'py-spy record -f raw' "
     "writes folded stacks"},
    {is_gmon,
     "is a profile of gprof (gmon.out), which has no stacks: 'perf record -g' makes a profile that "
     "ringside reads"},
    {is_text_of_pprof,
     "is a profile of Go or gperftools in text: 'pprof -proto PROGRAM FILE' makes a profile of "
     "pprof, which ringside reads"},
    {is_massif,
     "is a file of massif, valgrind's profiler of the heap, which ringside does not read: ms_print "
     "shows it"},
    {is_perf_report,
     "is the output of 'perf report --stdio': give the perf.data itself, or the text of 'perf "
     "script'"},
    {is_jfr_print,
     "is the text of 'jfr print': 'jfrconv -o collapsed' of async-profiler makes folded stacks of "
     "the recording itself"},
    {is_thread_dump,
     "is a thread dump of Java, as jstack writes it: profile with async-profiler, whose 'asprof -o "
     "collapsed' writes folded stacks"},
    {is_bpftrace,
     "is the output of bpftrace as it prints stacks: stackcollapse-bpftrace.pl of FlameGraph makes "
     "folded stacks of it"},
    {is_v8_heap_profile,
     "is a heap profile of V8 (.heapprofile): speedscope opens it, and exports its own JSON, which "
     "ringside reads"},
    {is_chrome_trace,
     "is a trace of Chrome: ringside writes such traces and does not read them; speedscope opens "
     "it, and exports its own JSON, which ringside reads"},
    {is_v8_profile,
     "is a CPU profile of V8 (.cpuprofile): speedscope opens it, and exports its own JSON, which "
     "ringside reads"},
    {is_perf_dump,
     "is a dump of the records of a perf.data, as 'perf script -D' prints it: give the perf.data "
     "itself, or the text of 'perf script' without -D"},
    {is_dtrace,
     "is the output of dtrace as it prints stacks: stackcollapse.pl of FlameGraph makes folded "
     "stacks of it"},
    {is_callgrind_without_costs,
     "is a file of callgrind without costs: with --instr-atstart=no, valgrind counts nothing until "
     "'callgrind_control -i on'"},
}};

}  // namespace

std::string_view foreign_file(Bytes bytes) {
  const std::string_view beginning(reinterpret_cast<const char*>(bytes.data()),
                                   std::min(bytes.size(), kLookedAt));
  for (const Foreign& foreign : kForeign)
    if (foreign.is_it(beginning)) return foreign.sentence;
  return {};
}

}  // namespace ringside::importers
