#include "importers/perf_script/perf_script.h"

#include <algorithm>
#include <ctime>
#include <tuple>

#include "importers/importers_test_util.h"

namespace ringside::importers {
namespace {

using recording::SourceKind;
using recording::WeightUnit;

using Frames = std::vector<std::string>;

class PerfScript : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text, const ImportOptions& options = {}) {
    return import(import_perf_script, {text}, options);
  }
  [[nodiscard]] const recording::SampleInfo& info(std::size_t sample) const {
    return recorded.samples.at(sample).info;
  }
  [[nodiscard]] const Frames& frames(std::size_t sample) const {
    return recorded.samples.at(sample).frames;
  }
  [[nodiscard]] recording::RecordedFrame frame_of(std::string_view function) const {
    for (const recording::RecordedFrame& frame : recorded.frames)
      if (recorded.texts[frame.function] == function) return frame;
    ADD_FAILURE() << function;
    return {};
  }
};

// Text of perf 6.1: perf record -e cpu-clock -F 999 -g, perf script --header.
constexpr const char* kRecorded =
    "# ========\n"
    "# captured on    : Fri Nov 27 03:10:15 2026\n"
    "# header version : 1\n"
    "# hostname : vm\n"
    "# os release : 6.18.44\n"
    "# arch : x86_64\n"
    "# nrcpus online : 2\n"
    "# cmdline : /usr/bin/perf record -e cpu-clock -F 999 -g \n"
    "# event : name = cpu-clock, , id = { 9786, 9787 }, type = 1, size = 128, { sample_period, "
    "sample_freq } = 999, sample_type = IP|TID|TIME|CALLCHAIN|PERIOD, freq = 1, task = 1\n"
    "# ========\n"
    "#\n"
    "my prog 13007 79466.272557:    1001001 cpu-clock: \n"
    "\t           31c27 __sincos_ifunc+0x7 (/usr/lib/x86_64-linux-gnu/libm.so.6)\n"
    "\t           1de39 dl_main+0x1e79 (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)\n"
    "\n"
    "my prog 13008 79466.273555:    1001001 cpu-clock: \n"
    "\tffffffff8226ec67 _raw_spin_lock+0x17 ([kernel.kallsyms])\n"
    "\tffffffffc0605fd2 ext4_map+0x842 ([ext4])\n"
    "\tffffffff81000c82 [unknown] ([kernel.kallsyms])\n"
    "\t            3000 [unknown] (/usr/lib/x86_64-linux-gnu/libgcc_s.so.1)\n"
    "\tffffffffffffff80 [unknown] ([unknown])\n"
    "\n";

TEST_F(PerfScript, Samples) {
  const auto imported = read(kRecorded);
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 2u);
  EXPECT_TRUE(imported->warnings.empty());
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(info(0).time_ns, 0u);
  EXPECT_EQ(info(1).time_ns, 998000u);
  EXPECT_EQ(info(0).weight, 1001001u);
  EXPECT_EQ(info(0).vcpu, recording::kNoVcpu);
  EXPECT_EQ(info(0).pid, 13007u);
  EXPECT_EQ(info(1).tid, 13008u);
  EXPECT_EQ(info(0).level, PrivilegeLevel::kUser);
  EXPECT_EQ(info(1).level, PrivilegeLevel::kKernel);
  EXPECT_EQ(frames(0), (Frames{"[libm.so.6] __sincos_ifunc", "[ld-linux-x86-64.so.2] dl_main"}));
  EXPECT_EQ(frames(1), (Frames{"[kernel] _raw_spin_lock", "[ext4] ext4_map",
                               "[kernel] 0xffffffff81000c81", "0x2fff", "0xffffffffffffff7f"}));
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_EQ(recorded.thread_names[1].name, "my prog");
  EXPECT_EQ(recorded.thread_names[1].tid, 13008u);
}

TEST_F(PerfScript, WhatTheHeaderSays) {
  ASSERT_TRUE(read(kRecorded));
  EXPECT_EQ(recorded.header.engine, "perf-script");
  EXPECT_EQ(recorded.header.host, "vm");
  EXPECT_EQ(recorded.header.arch, Arch::kX86_64);
  EXPECT_EQ(recorded.header.vcpu_count, 2u);
  EXPECT_EQ(recorded.header.interval_ns, 1'000'000'000u / 999);
  EXPECT_EQ(recorded.header.start_monotonic_ns, 79466272557000u);
  EXPECT_EQ(
      recorded.header.command_line,
      (std::vector<std::string>{"/usr/bin/perf", "record", "-e", "cpu-clock", "-F", "999", "-g"}));
  const auto seconds = static_cast<std::time_t>(recorded.header.start_wall_ns / 1'000'000'000);
  std::tm parts{};
  ASSERT_NE(::localtime_r(&seconds, &parts), nullptr);
  char text[64];
  ASSERT_NE(std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts), 0u);
  EXPECT_STREQ(text, "2026-11-27 03:10:15");
}

TEST_F(PerfScript, FramesHaveKindsFilesAndAddresses) {
  ASSERT_TRUE(read(kRecorded));
  EXPECT_EQ(frame_of("_raw_spin_lock").kind, FrameKind::kKernel);
  EXPECT_TRUE(frame_of("_raw_spin_lock").exact);
  EXPECT_EQ(frame_of("_raw_spin_lock").address.value, 0xffffffff8226ec67);
  EXPECT_EQ(frame_of("ext4_map").kind, FrameKind::kKernel);
  EXPECT_FALSE(frame_of("ext4_map").exact);
  EXPECT_EQ(frame_of("dl_main").kind, FrameKind::kUser);
  EXPECT_EQ(recorded.images[frame_of("__sincos_ifunc").image - 1].path,
            "/usr/lib/x86_64-linux-gnu/libm.so.6");
  EXPECT_EQ(recorded.images[frame_of("ext4_map").image - 1].path, "");
  // User code without a name, also where a walk makes up an address that looks like the kernel's.
  for (const recording::RecordedFrame& frame : recorded.frames)
    EXPECT_EQ(frame.kind == FrameKind::kCode,
              frame.address.value == 0xffffffffffffff80 || frame.address.value == 0x3000);
}

TEST_F(PerfScript, EachEventIsASource) {
  ASSERT_TRUE(
      read("a 1/1 [000] 100.000001:   7 cycles:ppp: \n\t 1 f (/x)\n\n"
           "a 1/1 [001] 100.000002:   1001001 task-clock:u: \n\t 1 f (/x)\n\n"
           "a 1/1 [002] 100.000003: sched:sched_switch: prev_comm=a prev_pid=1 ==> b\n"
           "a 1/1 [003] 100.000004: instructions: \n\t 1 f (/x)\n\n"
           "a 1/1 [003] 100.000005:   3 cycles:ppp: \n\t 1 f (/x)\n\n"));
  // A block has its samples by source.
  std::sort(recorded.samples.begin(), recorded.samples.end(),
            [](const auto& a, const auto& b) { return a.info.time_ns < b.info.time_ns; });
  ASSERT_EQ(recorded.sources.size(), 4u);
  std::vector<std::tuple<std::string, SourceKind, WeightUnit>> sources;
  for (const recording::Source& source : recorded.sources)
    sources.emplace_back(source.name, source.kind, source.values[0].unit);
  using Row = std::tuple<std::string, SourceKind, WeightUnit>;
  EXPECT_EQ(sources,
            (std::vector<Row>{{"cycles:ppp", SourceKind::kOther, WeightUnit::kCount},
                              {"task-clock:u", SourceKind::kOther, WeightUnit::kNanoseconds},
                              {"sched:sched_switch", SourceKind::kOther, WeightUnit::kCount},
                              {"instructions", SourceKind::kOther, WeightUnit::kSamples}}));
  EXPECT_EQ(info(0).weight, 7u);
  EXPECT_EQ(info(2).weight, 1u);
  EXPECT_EQ(info(2).source, 3u);
  EXPECT_TRUE(frames(2).empty());
  EXPECT_EQ(info(4).source, 1u);
  EXPECT_EQ(info(4).vcpu, VcpuId{3});
  EXPECT_EQ(recorded.statistics_of[1].due, 2u);
  EXPECT_EQ(recorded.statistics_of[3].due, 1u);
}

TEST_F(PerfScript, InlinedFramesAreOfTheFunctionBelow) {
  ASSERT_TRUE(
      read("a 1 1.000001: cycles:\n"
           "\tffffffff81000010 tiny (inlined)\n"
           "\tffffffff81000010 small (inlined)\n"
           "\tffffffff81000010 big ([kernel.kallsyms])\n"
           "\t             20 user_tiny (inlined)\n"
           "\t             20 user_big (/x)\n\n"));
  EXPECT_EQ(frames(0), (Frames{"tiny (inlined)", "small (inlined)", "[kernel] big",
                               "user_tiny (inlined)", "[x] user_big"}));
  EXPECT_TRUE(frame_of("tiny").exact);
  EXPECT_TRUE(frame_of("big").exact);
  EXPECT_FALSE(frame_of("user_tiny").exact);
  EXPECT_EQ(frame_of("small").kind, FrameKind::kKernel);
  EXPECT_EQ(frame_of("user_tiny").kind, FrameKind::kUser);
}

// Text of perf 6.1 with -F +srcline: the mark of inlined frames stands behind their place.
TEST_F(PerfScript, SourceLines) {
  ASSERT_TRUE(
      read("my prog 21456 80319.176110:    1001001    cpu-clock: \n"
           "\t            9a97 _dl_lookup+0x127 (/usr/lib/ld.so)\n"
           "  ./elf/dl-lookup.c:776\n"
           "\t            e460 resolve_map+0x840\n"
           "  ./elf/dl-reloc.c:190 (inlined)\n"
           "\t            e460 _dl_relocate+0x840 (/usr/lib/ld.so)\n"
           "  :0\n"
           "\t           27b25 start+0xd5 (/lib64/libc.so)\n"
           "  libc.so[27b25]\n\n"));
  EXPECT_EQ(frames(0), (Frames{"[ld.so] _dl_lookup", "resolve_map (inlined)",
                               "[ld.so] _dl_relocate", "[libc.so] start"}));
  EXPECT_EQ(recorded.texts[frame_of("_dl_lookup").file], "./elf/dl-lookup.c");
  EXPECT_EQ(frame_of("_dl_lookup").line, 776u);
  EXPECT_EQ(frame_of("resolve_map").line, 190u);
  EXPECT_EQ(frame_of("_dl_relocate").line, 0u);
}

TEST_F(PerfScript, WithoutCallGraphs) {
  ASSERT_TRUE(read(
      "         my prog 13007/13007 79466.272557:    1001001 cpu-clock:      7f9c9f351c27 f (/x)\n"
      "              dd 13009/13009 79466.273555:    1001001 cpu-clock:  ffffffff8226ec67 g "
      "([kernel.kallsyms])\n"));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(frames(0), (Frames{"[x] f"}));
  EXPECT_EQ(frames(1), (Frames{"[kernel] g"}));
  EXPECT_EQ(recorded.thread_names[1].name, "dd");
}

TEST_F(PerfScript, WithoutCallGraphsAndTimes) {
  const auto imported = read(
      "              dd 13009 [001]    1001001 cpu-clock:  ffffffff8226ec67 g+0x7 ([kernel])\n"
      "          facade 13010 [000]         12 cpu-clock:      7f9c9f351c27 f (/x)\n"
      "facade 13010 [000]         12 cpu-clock:      7f9c9f351c27 f (/x)\n");
  ASSERT_TRUE(imported);
  EXPECT_TRUE(imported->warnings.empty());
  ASSERT_EQ(recorded.samples.size(), 3u);
  EXPECT_EQ(frames(0), (Frames{"[kernel] g"}));
  EXPECT_EQ(frames(1), (Frames{"[x] f"}));
  EXPECT_EQ(frames(2), (Frames{"[x] f"}));
  EXPECT_EQ(info(0).weight, 1001001u);
  EXPECT_EQ(info(0).vcpu, VcpuId{1});
  EXPECT_EQ(info(1).tid, 13010u);
  EXPECT_EQ(info(2).time_ns, 2u);
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_EQ(recorded.thread_names[0].name, "dd");
}

// perf script -F comm,ip,sym; -F comm,event,ip,sym; -F pid,ip; -F ip,sym.
TEST_F(PerfScript, FewFieldsWithoutCallGraphs) {
  const auto expect = [&](const std::string& text, const Frames& leafs) {
    const auto imported = read(text);
    ASSERT_TRUE(imported) << text;
    EXPECT_TRUE(imported->warnings.empty()) << text;
    Frames found;
    for (const Recorded::OneSample& sample : recorded.samples) {
      ASSERT_EQ(sample.frames.size(), 1u) << text;
      found.push_back(sample.frames.front());
    }
    EXPECT_EQ(found, leafs) << text;
  };
  expect("              dd  ffffffff8226ec67 g\n              cc      7f9c9f351c27 f\n",
         {"g", "f"});
  expect("     dd cycles:  ffffffff8226ec67 g\n     cc cycles:      7f9c9f351c27 f\n", {"g", "f"});
  expect("13009  ffffffff8226ec67\n13010      7f9c9f351c27\n",
         {"0xffffffff8226ec67", "0x7f9c9f351c27"});
  expect(" ffffffff8226ec67 g ([kernel])\n     7f9c9f351c27 f\n", {"[kernel] g", "f"});
}

// perf script -F event,ip,sym,period: the digits of a period look like an address.
TEST_F(PerfScript, PeriodsAndEventsAlone) {
  const std::string text =
      "    500250 cpu-clock: \n\tffffffff8226ec67 g\n\t            1165 main\n\n"
      "    500250 cpu-clock: \n\n"
      "    250000 cpu-clock: \n\t            1165 main\n\n";
  EXPECT_EQ(perf_script_likeness({"input", as_bytes(text), {}}, {}), Likeness::kFits);
  const auto imported = read(text);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_TRUE(imported->warnings.empty());
  ASSERT_EQ(recorded.samples.size(), 3u);
  EXPECT_EQ(frames(0), (Frames{"g", "main"}));
  EXPECT_EQ(info(0).weight, 500250u);
  EXPECT_EQ(frames(1), Frames());
  EXPECT_EQ(frames(2), (Frames{"main"}));
  EXPECT_EQ(info(2).weight, 250000u);
  EXPECT_FALSE(info(2).pid);
  EXPECT_EQ(recorded.sources[0].name, "cpu-clock");
}

// perf script -F comm,tid,period,ip,sym.
TEST_F(PerfScript, PeriodsBehindThreads) {
  ASSERT_TRUE(
      read("my thread 0 25824     500250 \n\t            1165 f\n\n"
           "w 25822     500250 \n\n"));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(info(0).tid, 25824u);
  EXPECT_EQ(info(0).weight, 500250u);
  EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kCount);
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_EQ(recorded.thread_names[0].name, "my thread 0");
  EXPECT_EQ(recorded.thread_names[1].name, "w");
}

// perf script -F comm,cpu,ip,sym and -F comm,tid,ip,sym.
TEST_F(PerfScript, SamplesWithEmptyStacks) {
  const std::string text = "cc1plus [000] \n\ncc1plus [001] \n\t          fa9538 f\n\ncc 12 \n\n";
  EXPECT_EQ(perf_script_likeness({"input", as_bytes(text), {}}, {}), Likeness::kFits);
  const auto imported = read(text + "words 12\n\n");
  ASSERT_TRUE(imported);
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_NE(imported->warnings[0].find("one of the lines is left out"), std::string::npos)
      << imported->warnings[0];
  ASSERT_EQ(recorded.samples.size(), 3u);
  EXPECT_EQ(frames(0), Frames());
  EXPECT_EQ(info(0).vcpu, VcpuId{0});
  EXPECT_EQ(frames(1), (Frames{"f"}));
  EXPECT_EQ(info(2).tid, 12u);
}

TEST_F(PerfScript, CallChainsIndentedWithBlanksStayWhole) {
  ASSERT_TRUE(
      read("dd 12 cycles:\n"
           " ffffffff8226ec67 g ([kernel])\n"
           "             1165 main (/x)\n\n"
           "        ffffffff8226ec67 g ([kernel])\n"
           "                    1165 main (/x)\n\n"));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(frames(0), (Frames{"[kernel] g", "[x] main"}));
  EXPECT_EQ(frames(1), (Frames{"[kernel] g", "[x] main"}));
}

// As ringside writes folded stacks.
TEST_F(PerfScript, AnEventMayBeNamedSamples) {
  ASSERT_TRUE(
      read("[unknown]     0/0     0.000000000:         12 samples: \n"
           "\t               0 copy ([unknown])\n"
           "\t               0 main ([unknown])\n\n"
           "[unknown]     0/0     0.000000001:          3 samples: \n"
           "\t               0 main ([unknown])\n\n"));
  ASSERT_EQ(recorded.samples.size(), 2u);
  ASSERT_EQ(recorded.sources.size(), 1u);
  EXPECT_EQ(recorded.sources[0].name, "samples");
  EXPECT_EQ(recorded.sources[0].values[0].unit, WeightUnit::kSamples);
  EXPECT_EQ(info(0).weight, 12u);
  EXPECT_EQ(frames(0), (Frames{"copy", "main"}));
  EXPECT_EQ(recorded.statistics_of[1].due, 2u);
}

TEST_F(PerfScript, TheEventWithMostSamplesIsTheFirstSource) {
  ASSERT_TRUE(
      read("# event : name = page-faults, , { sample_period, sample_freq } = 999, freq = 1\n"
           "a 1/1 [000] 100.000001: page-faults: \n\t 1 f (/x)\n\n"
           "a 1/1 [000] 100.000002:   7 cycles: \n\t 1 f (/x)\n\n"
           "a 1/1 [000] 100.000003:   8 cycles: \n\t 1 f (/x)\n\n"));
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[0].name, "cycles");
  EXPECT_EQ(recorded.sources[0].values[0].unit, WeightUnit::kCount);
  EXPECT_EQ(recorded.sources[0].period, 0u);
  EXPECT_EQ(recorded.sources[1].name, "page-faults");
  EXPECT_EQ(recorded.statistics_of[1].due, 2u);
  EXPECT_EQ(recorded.statistics_of[2].due, 1u);
  EXPECT_EQ(recorded.header.start_monotonic_ns, 100000001000u);
}

// As perf-map-agent names compiled methods with others inlined into them.
TEST_F(PerfScript, FramesOfJavaHaveTheirInlinedMethods) {
  ASSERT_TRUE(
      read("java 7/8 [000] 1.000001: 1 cycles:\n"
           "\t    7f9c9f351c27 Lmain;::run->Lmain;::step->Lmath;::add (/tmp/perf-7.map)\n"
           "\t    7f9c9f351d00 Lmain;::main (/tmp/perf-7.map)\n"
           "\t            1165 A::operator->+0x5 (/usr/bin/java)\n\n"
           "java 7/8 [000] 1.000002: 1 cycles:\n"
           "\t    7f9c9f351c27 Lmain;::run->Lmain;::step->Lmath;::add (/tmp/perf-7.map)\n"
           "\t    7f9c9f351d04 -> (/tmp/perf-7.map)\n\n"));
  EXPECT_EQ(frames(0), (Frames{"[perf-7.map] Lmath;::add (inlined)",
                               "[perf-7.map] Lmain;::step (inlined)", "[perf-7.map] Lmain;::run",
                               "[perf-7.map] Lmain;::main", "[java] A::operator->"}));
  EXPECT_EQ(frames(1),
            (Frames{"[perf-7.map] Lmath;::add (inlined)", "[perf-7.map] Lmain;::step (inlined)",
                    "[perf-7.map] Lmain;::run", "[perf-7.map] ->"}));
  EXPECT_EQ(frame_of("Lmath;::add").address.value, 0x7f9c9f351c27u);
  EXPECT_TRUE(frame_of("Lmain;::run").exact);
  EXPECT_FALSE(frame_of("Lmain;::main").exact);
}

TEST_F(PerfScript, WithoutTimesSamplesAreNumbered) {
  ASSERT_TRUE(
      read("func_ab 15294 cpu-clock: \n\t          400570 func_b (/root/func_ab)\n\n"
           "func_ab 15294 cpu-clock: \n\t          400577 func_b (/root/func_ab)\n\n"));
  EXPECT_EQ(info(1).time_ns, 1u);
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.sources[0].clock, recorded.clocks[0].id);
}

TEST_F(PerfScript, AddressesAlone) {
  ASSERT_TRUE(read("\n\t           31c27\n\t           1de39\n\n\n\tffffffff8226ec67\n\n"));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(frames(0), (Frames{"0x31c27", "0x1de38"}));
  EXPECT_EQ(info(1).level, PrivilegeLevel::kKernel);
  EXPECT_EQ(recorded.sources[0].name, "samples");
}

TEST_F(PerfScript, CarriageReturnsAndFramesWithoutIndentation) {
  ASSERT_TRUE(
      read("java 19983 cycles:\r\n"
           "ffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])\r\n"
           "    7f8d0 Lfoo;::print (/tmp/perf-19982.map)\r\n"
           "\r\n"
           "java 19984 cycles:\r\n"));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(frames(0), (Frames{"[kernel] native_write_msr_safe", "[perf-19982.map] Lfoo;::print"}));
}

TEST_F(PerfScript, NamesOfThreadsChange) {
  ASSERT_TRUE(
      read("perf-exec 7/7 [000] 100.000001: 1 cycles:\n\t 1 f (/x)\n\n"
           "ls 7/7 [000] 100.000002: 1 cycles:\n\t 1 f (/x)\n\n"
           "ls 7/7 [001] 100.000003: 1 cycles:\n\t 1 f (/x)\n\n"
           ":8 8/8 [001] 100.000004: 1 cycles:\n\t 1 f (/x)\n\n"));
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_EQ(recorded.thread_names[1].name, "ls");
  EXPECT_EQ(recorded.thread_names[1].time_ns, 1000u);
}

TEST_F(PerfScript, MangledNamesAreRecorded) {
  ASSERT_TRUE(read("a 1 1.000001: cycles:\n\t 1 _ZN3foo3barEi+0x1 (/x)\n\n"));
  EXPECT_EQ(frames(0), (Frames{"[x] _ZN3foo3barEi"}));
}

TEST_F(PerfScript, LostSamplesAreDue) {
  ASSERT_TRUE(
      read("swapper     0     0.000000: PERF_RECORD_COMM: perf-exec:13007/13007\n"
           "a 1/1 [000] 100.000001: PERF_RECORD_MMAP2 1/1: [0x1(0x1000) @ 0 fe:00 1 0]: r-xp /x\n"
           "a 1/1 [000] 100.000001: 1 cycles:\n\t 1 f (/x)\n\n"
           "a 1/1 [000] 100.000002: PERF_RECORD_LOST lost 12\n"));
  ASSERT_EQ(recorded.samples.size(), 1u);
  EXPECT_EQ(recorded.header.start_monotonic_ns, 100000001000u);
  EXPECT_EQ(recorded.statistics_of[1].lost, 12u);
  EXPECT_EQ(recorded.statistics_of[1].due, 13u);
}

// As ringside writes it: the kernel's addresses, ticks, and vCPUs that are idle.
TEST_F(PerfScript, TicksOfRingsideItself) {
  ASSERT_TRUE(
      read("worker-1     1/100   [000] 0.000000000:          1 cpu: \n"
           "\tffffffff81011620 tcp_free+0x20 ([kernel.kallsyms])\n"
           "\t          4dee20 loop+0x20 (program)\n\n"
           "[unknown]     0/0     [001] 0.001000000:          1 cpu: \n"
           "\t               0 [idle] ([unknown])\n\n"));
  EXPECT_EQ(recorded.sources[0].kind, SourceKind::kCpu);
  EXPECT_EQ(recorded.sources[0].values[0].unit, WeightUnit::kTicks);
  EXPECT_EQ(recorded.header.start_monotonic_ns, 0u);
  EXPECT_EQ(info(1).time_ns, 1'000'000u);
  EXPECT_EQ(info(1).disposition, wire::Disposition::kIdle);
  EXPECT_EQ(info(1).pid, std::nullopt);
  EXPECT_TRUE(frames(1).empty());
  EXPECT_EQ(recorded.images[1].name, "program");
  EXPECT_EQ(recorded.statistics_of[1].due, 2u);
}

TEST_F(PerfScript, NamesInPlaceOfFilesAreOfRedox) {
  ASSERT_TRUE(
      read("kernel     7/9     [001] 0.000000000:          1 cpu: \n"
           "\tffffffff80011620 [unknown] (kernel::memory::map+12b)\n"
           "\tffffffff80011620 [unknown] (kernel::memory::map)\n"
           "\tffffffff80011630 [unknown] ([kernel])\n\n"
           "other     7/9     [001] 0.000000000:          1 cpu: \n"
           "\t           11620 [unknown] (program)\n\n"));
  EXPECT_EQ(frames(0),
            (Frames{"kernel::memory::map+12b", "kernel::memory::map", "0xffffffff8001162f"}));
  EXPECT_EQ(info(0).level, PrivilegeLevel::kKernel);
  EXPECT_EQ(frames(1), (Frames{"[program] 0x11620"}));
}

// A program of another name may be called user, and its functions [main].
TEST_F(PerfScript, NamesInBracketsAreOfRedox) {
  ASSERT_TRUE(
      read("kernel     7/9     [001] 0.000000000:          1 cpu: \n"
           "\tffffffff80101234 [<alloc::vec::Vec<T> as core::ops::Drop>::drop+12b] (kernel)\n"
           "\tffffffff80101240 [unknown] ([kernel])\n"
           "\t          401000 [main] (user)\n\n"
           "other     7/9     [001] 0.000000000:          1 cpu: \n"
           "\t          401000 [main] (user)\n\n"));
  EXPECT_EQ(frames(0), (Frames{"<alloc::vec::Vec<T> as core::ops::Drop>::drop+12b",
                               "0xffffffff8010123f", "main"}));
  EXPECT_EQ(info(0).level, PrivilegeLevel::kKernel);
  EXPECT_EQ(frames(1), (Frames{"[user] [main]"}));
}

TEST_F(PerfScript, AddressesOfTheGivenKernelAreInItsImage) {
  ImportOptions options;
  options.kernel_code = {{GuestVirt{0xffffffff81000000}, GuestVirt{0xffffffff82000000}}};
  ASSERT_TRUE(
      read("a 1 1.000001: cycles:\n"
           "\tffffffff81000010 [unknown] ([kernel.kallsyms])\n"
           "\tffffffff81000020 [unknown] ([kernel.kallsyms])\n\n"
           "a 1 1.000001: cycles:\n"
           "\tffffffffc1000010 [unknown] ([kernel.kallsyms])\n\n",
           options));
  EXPECT_EQ(frames(0), (Frames{"0xffffffff81000010", "0xffffffff8100001f"}));
  EXPECT_EQ(frames(1), (Frames{"[kernel] 0xffffffffc1000010"}));
}

TEST_F(PerfScript, CountsWhatItLeavesOut) {
  const auto imported = read(
      "words\n"
      "a 1 1.000001: cycles:\n\t 1 f (/x)\n\tregisters\n\n"
      "a 1 1.000001: cycles:\n\t 1 f (/x)\n\tregisters\n\n");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 2u);
  EXPECT_EQ(imported->warnings,
            std::vector<std::string>{"input: 3 lines are left out; the first is at offset 0x0: it "
                                     "is neither a sample nor a frame nor a comment"});
}

TEST_F(PerfScript, AStackThatIsTooDeepKeepsItsLeaf) {
  std::string text = "a 1 1.000001: cycles:\n";
  for (int i = 0; i < 3000; ++i) text += fmt::format("\t {:x} f{} (/x)\n", i, i);
  ASSERT_TRUE(read(text));
  EXPECT_EQ(frames(0).size(), 512u);
  EXPECT_EQ(frames(0)[0], "[x] f0");
}

TEST_F(PerfScript, TimesMayGoBack) {
  ASSERT_TRUE(
      read("a 1 100.000005: cycles:\n\t 1 f (/x)\n\n"
           "a 1 100.000001: cycles:\n\t 1 f (/x)\n\n"
           "a 1 100.000007: cycles:\n\t 1 f (/x)\n\n"));
  EXPECT_EQ(info(1).time_ns, 0u);
  EXPECT_EQ(info(2).time_ns, 2000u);
}

TEST_F(PerfScript, SaysWhatItExpected) {
  for (const std::string text : {"", "# comment\n", "words\nof a text:\n  no hex\n", "\n\n\n"}) {
    const auto imported = read(text);
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, ErrorCode::kFormat);
    EXPECT_NE(imported.error().message.find("input: no text of perf script"), std::string::npos);
  }
}

TEST_F(PerfScript, KeepsWhatCameBeforeACut) {
  const std::string whole = std::string(kRecorded) + kRecorded;
  std::size_t samples = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto imported = read(whole.substr(0, size));
    ASSERT_GE(recorded.samples.size(), samples) << size;
    ASSERT_EQ(imported ? imported->records : 0, recorded.samples.size());
    samples = recorded.samples.size();
  }
  EXPECT_EQ(samples, 4u);
}

TEST_F(PerfScript, ItsBeginning) {
  const auto likeness = [](const std::string& text) {
    return perf_script_likeness({"input", as_bytes(text), {}}, {});
  };
  EXPECT_EQ(likeness(kRecorded), Likeness::kCertain);
  EXPECT_EQ(likeness("java 19983 cycles:\n\t 1 f (/x)\n"), Likeness::kCertain);
  EXPECT_EQ(likeness("a 1/1 [000] 1.000001: sched:sched_switch: x\n"), Likeness::kCertain);
  EXPECT_EQ(likeness("swapper     0     0.000000: PERF_RECORD_COMM: perf-exec:13007/13007\n"
                     "a 1/1 [000] 1.000001: 1 cycles:\n"),
            Likeness::kCertain);
  EXPECT_EQ(likeness("my prog \n\t  31c27 f\n"), Likeness::kFits);
  EXPECT_EQ(likeness("   dd 13009 cycles:  ffffffff8226ec67 g ([kernel])\n"), Likeness::kCertain);
  EXPECT_EQ(likeness("   dd  ffffffff8226ec67 g\n"), Likeness::kFits);
  EXPECT_EQ(likeness(" ffffffff8226ec67 g\n"), Likeness::kFits);
  EXPECT_EQ(likeness(""), Likeness::kNone);
  EXPECT_EQ(likeness("main;read;copy 12\n"), Likeness::kNone);
  EXPECT_EQ(likeness("Thread 1 (Thread 1.1 (CPU#0 [running])):\n#0  0x1 in f ()\n"),
            Likeness::kNone);
  EXPECT_EQ(likeness("{\"stack_traces\": [\n  {\"0\": []}]}"), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
