#include "importers/foreign_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside::importers {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string sentence(const std::string& contents) {
  return std::string(foreign_file(as_bytes(contents)));
}

// The bytes of a literal with its zeros.
template <std::size_t kSize>
std::string bytes(const char (&literal)[kSize]) {
  return {literal, kSize - 1};
}

TEST(ForeignFile, Utf16HasAMarkOfItsOrder) {
  for (const std::string& text : {bytes("\xff\xfe"
                                        "a\0;\0b\0"),
                                  bytes("\xfe\xff"
                                        "\0a\0;\0b")}) {
    EXPECT_THAT(sentence(text), StartsWith("is text in UTF-16"));
    EXPECT_THAT(sentence(text), HasSubstr("iconv -f UTF-16 -t UTF-8"));
  }
}

TEST(ForeignFile, FilesOfJava) {
  EXPECT_THAT(sentence(bytes("JAVA PROFILE 1.0.2\0\0\0\0\x08")),
              StartsWith("is a file of Java's hprof"));
  EXPECT_THAT(sentence("JAVA PROFILE 1.0.1, created Mon Nov 30\n"),
              HasSubstr("asprof -o collapsed"));
  EXPECT_THAT(sentence(bytes("FLR\0\0\2\0\1")), HasSubstr("jfrconv -o collapsed"));
}

TEST(ForeignFile, ProfilesOfGperftoolsBeginWithFiveWords) {
  const std::string wide =
      bytes("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\x27\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
  const std::string narrow = bytes("\0\0\0\0\3\0\0\0\0\0\0\0\x10\x27\0\0\0\0\0\0");
  for (const std::string& text : {wide, narrow})
    EXPECT_THAT(sentence(text), HasSubstr("pprof -proto PROGRAM FILE"));
  EXPECT_THAT(sentence(wide.substr(0, 39)), IsEmpty());
  EXPECT_THAT(sentence(std::string(64, '\0')), IsEmpty());
}

TEST(ForeignFile, TracesOfChrome) {
  for (const char* const text : {"{\"traceEvents\":[]}", "{\"metadata\":{},\n \"traceEvents\": [\n",
                                 "\n[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"pid\":1}]"})
    EXPECT_THAT(sentence(text), StartsWith("is a trace of Chrome: ")) << text;
  EXPECT_THAT(sentence("[{\"ph\":\"X\"}]"), IsEmpty());
}

TEST(ForeignFile, CpuProfilesOfV8) {
  EXPECT_THAT(sentence("{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"}}],"
                       "\"startTime\":1,\"samples\":[1],\"timeDeltas\":[2]}"),
              StartsWith("is a CPU profile of V8 (.cpuprofile): speedscope"));
  EXPECT_THAT(sentence("{\"nodes\":[]}"), IsEmpty());
}

// Text of perf 6.1.
TEST(ForeignFile, DumpsOfPerf) {
  const std::string text =
      "\n0x1c8@perf.data [0x28]: event: 79\n"
      ".\n"
      ". ... raw event: size 40 bytes\n"
      ".  0000:  4f 00 00 00 00 00 28 00 1f 00 00 00 00 00 00 00  O.....(.........\n"
      "\n0 0x1c8@perf.data [0x28]: PERF_RECORD_TIME_CONV: unhandled!\n";
  EXPECT_THAT(sentence(text), HasSubstr("give the perf.data itself"));
  EXPECT_THAT(sentence("# comment\n" + text), HasSubstr("without -D"));
}

TEST(ForeignFile, StacksOfDtrace) {
  for (const char* const text :
       {"CPU     ID                    FUNCTION:NAME\n  0  64091                        "
        ":tick-60s\n",
        "\n\n              genunix`kmem_cpu_reload+0x20\n              genunix`kmem_cache_free\n"
        "              unix`0xfb8001d6\n                1\n"})
    EXPECT_THAT(sentence(text), HasSubstr("stackcollapse.pl")) << text;
  EXPECT_THAT(sentence("unix`thread_start;genunix`kmem_cache_free 12\n"), IsEmpty());
}

TEST(ForeignFile, CallgrindWithoutCosts) {
  const std::string text =
      "version: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd: true\npart: 1\n\n"
      "positions: line\nevents: Ir\nsummary: 0\n\n\ntotals: 0\n";
  EXPECT_THAT(sentence(text), StartsWith("is a file of callgrind without costs"));
  EXPECT_THAT(sentence(text + "fn=(1) main\n1 2\n"), IsEmpty());
}

// Text of bpftrace 0.17.
TEST(ForeignFile, StacksOfBpftrace) {
  for (const char* const text : {"Attaching 2 probes...\n\n\n@[\n    unmap_vmas+157\n]: 12\n",
                                 "@stacks[cc1plus, \n    walk(tree*)+5400\n    0x4855\n, ]: 1\n",
                                 "@[\n    do_exit+647\n, swapper/0]: 3\n"})
    EXPECT_THAT(sentence(text), HasSubstr("stackcollapse-bpftrace.pl")) << text;
  for (const char* const text : {"@[swapper]: 12\n", "@[\n    f\n\n]: 12\n", "a @[\n]: 12\n",
                                 "@main;f[\n]: 1\n", "@[\n    f\n]: x\n"})
    EXPECT_THAT(sentence(text), IsEmpty()) << text;
}

TEST(ForeignFile, ReportsOfPerf) {
  for (const char* const head : {"Overhead  Command  Symbol", "Children      Self  Command"})
    EXPECT_THAT(sentence(std::string("# To display the perf.data header info, please use\n#\n"
                                     "# Samples: 3K of event 'cpu-clock'\n"
                                     "# Event count (approx.): 1828413750\n#\n# ") +
                         head + "\n# ........\n    49.27%  w  [.] f\n"),
                StartsWith("is the output of 'perf report --stdio'"));
  EXPECT_THAT(sentence("# cmdline : perf record\n# Samples: 3\nmain;read 12\n"), IsEmpty());
}

TEST(ForeignFile, ProfilesInText) {
  for (const char* const text :
       {"heap profile:      2:     4168 [     2:     4168] @ heapprofile\n",
        "heap profile: 1332: 6509120 [26466: 133344144] @ heap/8192\n",
        "--- contention:\ncycles/second=2096168330\n", "--- mutex:\ncycles/second=2096168330\n",
        "goroutine profile: total 1\n", "threadcreate profile: total 5\n"})
    EXPECT_THAT(sentence(text), HasSubstr("'pprof -proto PROGRAM FILE'")) << text;
}

TEST(ForeignFile, TextsOfJava) {
  EXPECT_THAT(sentence("jdk.ExecutionSample {\n  startTime = 11:23:08.469\n}\n"),
              StartsWith("is the text of 'jfr print'"));
  EXPECT_THAT(sentence("2026-11-30 11:23:14\nFull thread dump OpenJDK 64-Bit Server VM (17):\n"),
              StartsWith("is a thread dump of Java"));
  EXPECT_THAT(sentence("jdk.internal.misc.Unsafe;Full thread dump 3\n"), IsEmpty());
}

TEST(ForeignFile, ProfilesOfCProfile) {
  EXPECT_THAT(sentence(bytes("\xfb\x29\x03\xfa\x01\x7e\xe9\0\0\0\0")),
              StartsWith("is a profile in the form of Python's cProfile"));
  EXPECT_THAT(sentence(bytes("{\xa9\x03z\x01~")), HasSubstr("py-spy record -f raw"));
  for (const std::string& text : {bytes("{)\x02z"), bytes("{)\x03i"), bytes("{)\x03")})
    EXPECT_THAT(sentence(text), IsEmpty());
}

TEST(ForeignFile, ProfilesOfGprof) {
  EXPECT_THAT(sentence(bytes("gmon\1\0\0\0\0\0\0\0")), StartsWith("is a profile of gprof"));
  EXPECT_THAT(sentence("gmon;main 12\n"), IsEmpty());
}

TEST(ForeignFile, ProfilesOfHeaps) {
  EXPECT_THAT(sentence("desc: --massif-out-file=massif.out\ncmd: ./a\ntime_unit: i\n#-----------\n"
                       "snapshot=0\n"),
              HasSubstr("ms_print"));
  EXPECT_THAT(sentence("desc: Trigger\ncmd: ./a\nevents: Ir\n"), IsEmpty());
  EXPECT_THAT(sentence("{\"head\":{\"callFrame\":{\"functionName\":\"(root)\"},\"selfSize\":0}}"),
              StartsWith("is a heap profile of V8 (.heapprofile)"));
  EXPECT_THAT(sentence("{\"head\":{}}"), IsEmpty());
}

TEST(ForeignFile, OthersAreNone) {
  for (const char* const text : {"", "words\n", "main;read 12\n", "{\"stack_traces\":[]}",
                                 "dd 12 [001] 100.000001: 250000 cpu-clock:\n"})
    EXPECT_THAT(sentence(text), IsEmpty()) << text;
}

}  // namespace
}  // namespace ringside::importers
