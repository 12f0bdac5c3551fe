#include "importers/gdb_text.h"

#include <regex>

#include "importers/importers_test_util.h"
#include "symbols/asterinas_name.h"

namespace ringside::importers {
namespace {

using ::testing::Test;

// Asterinas' own transcript, as two runs of gdb have it (the names that its test asserts, with
// generics as gdb prints them).
constexpr const char* kTwoCaptures = R"(
0xffffffff880b0f6f in aster_nix::sched::priority_scheduler::{impl#4}::pick_next_current<ostd::task::Task> (self=0xffffffff88489808 <_ZN4ostd2mm14heap_allocator10HEAP_SPACE17h85a5340e6564f69dE.llvm.15305379556759765072+992480>) at src/sched/priority_scheduler.rs:156
156	        let next_entity = if !self.real_time_entities.is_empty() {

Thread 2 (Thread 1.2 (CPU#1 [running])):
#0  ostd::sync::spin::SpinLock<core::option::Option<aster_nix::sched::RunQueue<ostd::task::Task>>, ostd::sync::spin::PreemptDisabled>::acquire_lock<core::option::Option<aster_nix::sched::RunQueue<ostd::task::Task>>, ostd::sync::spin::PreemptDisabled> (...)
#1  ostd::sync::spin::SpinLock<core::option::Option<aster_nix::sched::RunQueue<ostd::task::Task>>, ostd::sync::spin::PreemptDisabled>::lock<core::option::Option<aster_nix::sched::RunQueue<ostd::task::Task>>, ostd::sync::spin::PreemptDisabled> (...)
#2  aster_nix::sched::priority_scheduler::{impl#1}::local_mut_rq_with<ostd::task::Task> (...)
#3  0xffffffff8826b205 in ostd::task::scheduler::reschedule<ostd::task::scheduler::yield_now::{closure_env#0}> (...)
#4  ostd::task::scheduler::yield_now ()
#5  0xffffffff880a92c5 in ostd::task::Task::yield_now ()
#6  aster_nix::thread::Thread::yield_now ()
#7  aster_nix::ap_init::ap_idle_thread ()
#8  core::ops::function::Fn::call<fn(), ()> ()
#9  0xffffffff880b341e in alloc::boxed::{impl#50}::call<(), (dyn core::ops::function::Fn<(), Output=()> + core::marker::Send + core::marker::Sync), alloc::alloc::Global> (...)
#10 aster_nix::thread::kernel_thread::create_new_kernel_task::{closure#0} ()
#11 0xffffffff882a3ea8 in alloc::boxed::{impl#50}::call<(), (dyn core::ops::function::Fn<(), Output=()> + core::marker::Send + core::marker::Sync), alloc::alloc::Global> (...)
#12 ostd::task::{impl#2}::build::kernel_task_entry ()
#13 0x0000000000000000 in ?? ()

Thread 1 (Thread 1.1 (CPU#0 [running])):
#0  aster_nix::sched::priority_scheduler::{impl#1}::local_mut_rq_with<ostd::task::Task> (...)
#1  0xffffffff8826b205 in ostd::task::scheduler::reschedule<ostd::task::scheduler::yield_now::{closure_env#0}> (...)
#2  ostd::task::scheduler::yield_now ()
#3  0xffffffff880a92c5 in ostd::task::Task::yield_now ()
#4  aster_nix::thread::Thread::yield_now ()
#5  aster_nix::ap_init::ap_idle_thread ()
#6  core::ops::function::Fn::call<fn(), ()> ()
#7  0xffffffff880b341e in alloc::boxed::{impl#50}::call<(), (dyn core::ops::function::Fn<(), Output=()> + core::marker::Send + core::marker::Sync), alloc::alloc::Global> (...)
#8  aster_nix::thread::kernel_thread::create_new_kernel_task::{closure#0} ()
#9  0xffffffff882a3ea8 in alloc::boxed::{impl#50}::call<(), (dyn core::ops::function::Fn<(), Output=()> + core::marker::Send + core::marker::Sync), alloc::alloc::Global> (...)
#10 ostd::task::{impl#2}::build::kernel_task_entry ()
#11 0x0000000000000000 in ?? ()
[Inferior 1 (process 1) detached]
0xffffffff880b0f6f in aster_nix::sched::priority_scheduler::{impl#4}::pick_next_current<ostd::task::Task> (self=0xffffffff88489808 <_ZN4ostd2mm14heap_allocator10HEAP_SPACE17h85a5340e6564f69dE.llvm.15305379556759765072+992480>) at src/sched/priority_scheduler.rs:156
156	        let next_entity = if !self.real_time_entities.is_empty() {

Thread 2 (Thread 1.2 (CPU#1 [running])):
#0  0xffffffff880b0f6f in aster_nix::sched::priority_scheduler::{impl#4}::pick_next_current<ostd::task::Task> (...)
#1  0xffffffff8826b3e0 in ostd::task::scheduler::yield_now::{closure#0} (...)
#2  ostd::task::scheduler::reschedule::{closure#0}<ostd::task::scheduler::yield_now::{closure_env#0}> (...)
#3  0xffffffff880b0cff in aster_nix::sched::priority_scheduler::{impl#1}::local_mut_rq_with<ostd::task::Task> (...)
#4  0xffffffff8826b205 in ostd::task::scheduler::reschedule<ostd::task::scheduler::yield_now::{closure_env#0}> (...)
#5  ostd::task::scheduler::yield_now ()
#6  0xffffffff880a92c5 in ostd::task::Task::yield_now ()
#7  aster_nix::thread::Thread::yield_now ()
#8  aster_nix::ap_init::ap_idle_thread ()
#9  core::ops::function::Fn::call<fn(), ()> ()
#10 0xffffffff880b341e in alloc::boxed::{impl#50}::call<(), (dyn core::ops::function::Fn<(), Output=()> + core::marker::Send + core::marker::Sync), alloc::alloc::Global> (...)
#11 aster_nix::thread::kernel_thread::create_new_kernel_task::{closure#0} ()
#12 0xffffffff882a3ea8 in alloc::boxed::{impl#50}::call<(), (dyn core::ops::function::Fn<(), Output=()> + core::marker::Send + core::marker::Sync), alloc::alloc::Global> (...)
#13 ostd::task::{impl#2}::build::kernel_task_entry ()
#14 0x0000000000000000 in ?? ()

Thread 1 (Thread 1.1 (CPU#0 [running])):
#0  ostd::arch::x86::interrupts_ack (...)
#1  0xffffffff8828d704 in ostd::trap::handler::call_irq_callback_functions (...)
#2  0xffffffff88268e48 in ostd::arch::x86::trap::trap_handler (...)
#3  0xffffffff88274db6 in __from_kernel ()
#4  0x0000000000000001 in ?? ()
#5  0x0000000000000001 in ?? ()
#6  0x00000000000001c4 in ?? ()
#7  0xffffffff882c8580 in ?? ()
#8  0x0000000000000002 in ?? ()
#9  0xffffffff88489808 in _ZN4ostd2mm14heap_allocator10HEAP_SPACE17h85a5340e6564f69dE.llvm.15305379556759765072 ()
#10 0x0000000000000000 in ?? ()
[Inferior 1 (process 1) detached]
)";

// The clean-up of Asterinas' profiler, rule by rule: of a frame's whole line.
std::string original_name(std::string line) {
  std::string kept;
  int depth = 0;
  for (const char c : line) {
    if (c == '<')
      ++depth;
    else if (c == '>')
      depth = std::max(0, depth - 1);
    else if (depth == 0)
      kept += c;
  }
  for (const char* const pattern : {R"(::\{.*?\})", "0x[0-9a-f]+ in", R"(\(\.\.\.\))", R"(\(\))"})
    kept = std::regex_replace(kept, std::regex(pattern), "");
  std::smatch words;
  return std::regex_search(kept, words, std::regex(R"(^\S+\s+(\S+))")) ? words[1].str() : "";
}

class GdbText : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text) { return import(import_gdb_text, {text}); }
  Result<Imported> read(const std::vector<std::string>& texts) {
    return import(import_gdb_text, texts);
  }
  [[nodiscard]] const recording::SampleInfo& info(std::size_t sample) const {
    return recorded.samples.at(sample).info;
  }
  [[nodiscard]] const std::vector<std::string>& frames(std::size_t sample) const {
    return recorded.samples.at(sample).frames;
  }
  // The one recorded frame of that function.
  [[nodiscard]] recording::RecordedFrame frame_of(std::string_view function) const {
    for (const recording::RecordedFrame& frame : recorded.frames)
      if (recorded.texts[frame.function] == function) return frame;
    ADD_FAILURE() << function;
    return {};
  }
};

// `sample` has names as asterinas_name() makes them.
std::string clean(const std::string& name) {
  constexpr std::string_view kInlined = " (inlined)";
  const bool is_inlined = name.ends_with(kInlined);
  return symbols::asterinas_name(
      std::string_view(name).substr(0, name.size() - (is_inlined ? kInlined.size() : 0)));
}

TEST_F(GdbText, AsterinasOwnTranscript) {
  const auto imported = read(kTwoCaptures);
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 4u);
  EXPECT_TRUE(imported->warnings.empty());
  ASSERT_EQ(recorded.samples.size(), 4u);
  const std::vector<std::size_t> depths = {14, 12, 15, 11};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(info(i).vcpu, VcpuId{static_cast<std::uint16_t>(1 - i % 2)});
    EXPECT_EQ(info(i).time_ns, i / 2);
    EXPECT_EQ(info(i).level, PrivilegeLevel::kKernel);
    EXPECT_EQ(info(i).source, 1u);
    EXPECT_EQ(frames(i).size(), depths[i]);
  }
  EXPECT_EQ(clean(frames(0)[9]), "alloc::boxed::call");
  EXPECT_EQ(clean(frames(1)[0]), "aster_nix::sched::priority_scheduler::local_mut_rq_with");
  EXPECT_EQ(clean(frames(2)[0]), "aster_nix::sched::priority_scheduler::pick_next_current");
  EXPECT_EQ(frames(3)[9],
            "_ZN4ostd2mm14heap_allocator10HEAP_SPACE17h85a5340e6564f69dE.llvm."
            "15305379556759765072");
  // "??" has its address and no name.
  EXPECT_EQ(frames(1)[11], fmt::format("{:#x}", ~std::uint64_t{0}));
  EXPECT_EQ(frames(3)[7], "0xffffffff882c857f");
}

TEST_F(GdbText, NamesAreCleanedUpAsAsterinasDoesIt) {
  ASSERT_TRUE(read(kTwoCaptures));
  std::vector<std::string> expected;
  std::string_view rest = kTwoCaptures;
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with('#')) expected.push_back(original_name(line));
  }
  std::vector<std::string> names;
  for (const Recorded::OneSample& sample : recorded.samples)
    for (const std::string& frame : sample.frames)
      names.push_back(frame.starts_with("0x") ? "??" : clean(frame));
  EXPECT_EQ(names, expected);
}

TEST_F(GdbText, HasTheNumberOfVcpusAndTheirTicks) {
  ASSERT_TRUE(read(kTwoCaptures));
  EXPECT_EQ(recorded.header.engine, "gdb");
  EXPECT_EQ(recorded.header.vcpu_count, 2u);
  ASSERT_EQ(recorded.sources.size(), 1u);
  EXPECT_EQ(recorded.sources[0].name, "cpu");
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kCpu);
  EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kTicks);
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.sources[0].clock, recorded.clocks[0].id);
  EXPECT_EQ(recorded.statistics_of[1].due, 4u);
}

TEST_F(GdbText, AFrameWithoutAddressIsWhatTheOneBeforeWasInlinedInto) {
  ASSERT_TRUE(read(kTwoCaptures));
  EXPECT_EQ(frames(2)[1], "ostd::task::scheduler::yield_now::{closure#0} (inlined)");
  const auto inner = frame_of("ostd::task::scheduler::yield_now::{closure#0}");
  EXPECT_EQ(inner.address.value, 0xffffffff8826b3e0);
  EXPECT_FALSE(inner.exact);
  const auto outer = frame_of(
      "ostd::task::scheduler::reschedule::{closure#0}<ostd::task::scheduler::yield_now::"
      "{closure_env#0}>");
  EXPECT_EQ(outer.address.value, 0xffffffff8826b3e0);
  EXPECT_FALSE(outer.inlined);
  // At the beginning of a line the innermost has no address, either.
  EXPECT_TRUE(frames(0)[0].ends_with("(inlined)"));
  EXPECT_TRUE(frames(0)[1].ends_with("(inlined)"));
  EXPECT_FALSE(frames(0)[2].ends_with("(inlined)"));
  EXPECT_FALSE(frames(3)[0].ends_with("(inlined)"));
  EXPECT_TRUE(frame_of("ostd::arch::x86::interrupts_ack").exact);
  EXPECT_EQ(frame_of("ostd::arch::x86::interrupts_ack").kind, FrameKind::kKernel);
}

TEST_F(GdbText, NothingIsInlinedWhereAddressesAreOff) {
  ASSERT_TRUE(read("Thread 1 (Thread 1.1 (CPU#0 [running])):\n#0  f ()\n#1  g ()\n#2  main ()\n"));
  EXPECT_EQ(frames(0), (std::vector<std::string>{"f", "g", "main"}));
  EXPECT_EQ(info(0).level, PrivilegeLevel::kUnknown);
}

TEST_F(GdbText, ACpuThatComesAgainAndARoundBeginACapture) {
  const std::string cpu0 = "Thread 1 (Thread 1.1 (CPU#0 [halted ])):\n#0  0x1 in idle ()\n";
  const std::string cpu1 = "Thread 2 (Thread 1.2 (CPU#1 [running])):\n#0  0x2 in run ()\n";
  const std::string round = "-<!OSDK_PROF_BT_ROUND!>-\n";
  ASSERT_TRUE(read(cpu1 + cpu0 + cpu0 + cpu1 + round + round + cpu1 + round + cpu0));
  std::vector<std::pair<int, std::uint64_t>> samples;
  for (const Recorded::OneSample& sample : recorded.samples)
    samples.emplace_back(sample.info.vcpu.value, sample.info.time_ns);
  EXPECT_EQ(samples, (std::vector<std::pair<int, std::uint64_t>>{
                         {1, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 2}, {0, 3}}));
}

TEST_F(GdbText, VcpusOfSeveralClusters) {
  ASSERT_TRUE(
      read("Thread 1 (Thread 1.1 (cortex-a53-arm-cpu cpu[0] [running])):\n#0  0x1 in a ()\n"
           "Thread 2 (Thread 2.2 (cortex-r5-arm-cpu cpu[0] [halted ])):\n#0  0x1 in b ()\n"));
  EXPECT_EQ(info(0).vcpu, VcpuId{0});
  EXPECT_EQ(info(1).vcpu, VcpuId{1});
}

// gdb 13 on a program of four threads that it attached to.
constexpr const char* kProgram = R"(Attaching to process 6433
Thread 3 (Thread 0x7f80caf3c6c0 (LWP 6435) "worker two"):
#0  0x00007f80cb8f1df2 in __libc_pause () at ../sysdeps/unix/sysv/linux/pause.c:29
#1  0x000055aafaed4371 in in1 (fmt=0x55aafaed5019 "a) (b at x.c:12") at t.cpp:8
#2  in2 (f=0x55aafaed5019 "a) (b at x.c:12") at t.cpp:9
#3  outer (f=f@entry=0x55aafaed5019 "a) (b at x.c:12") at t.cpp:10
#4  0x000055aafaed429a in (anonymous namespace)::Holder<long>::operator< (o=<synthetic pointer>..., this=<synthetic pointer>) at t.cpp:7
#5  0x000055aafaed428c in std::__invoke_impl<int, (anonymous namespace)::Holder<unsigned long>&, int> (__f=...) at /usr/include/c++/12/bits/invoke.h:61
#6  std::_Function_handler<int(int), (anonymous namespace)::Holder<long unsigned int> >::_M_invoke(const std::_Any_data &, int &&) (__functor=..., __args#0=__args#0@entry=@0x7f80cb73ceac: 2) at /usr/include/c++/12/bits/std_function.h:290
#7  0x000055aafaed431f in std::function<int (int)>::operator()(int) const (__args#0=<optimized out>, this=0x7f80cb73ceb0) at /usr/include/c++/12/bits/std_function.h:591
#8  0x00007f80cb9278ec in ?? () from /lib/x86_64-linux-gnu/libc.so.6

Thread 1 (Thread 0x7f80cbc5b440 (LWP 6433) "prog"):
#0  0x00007f80cb8f1df2 in __libc_pause () at ../sysdeps/unix/sysv/linux/pause.c:29
#1  0x000055aafaed42c0 in handler () at t.cpp:15
#2  <signal handler called>
#3  __pthread_kill_implementation (threadid=<optimized out>, signo=signo@entry=10, no_tid=no_tid@entry=0) at ./nptl/pthread_kill.c:44
#4  0x00007f80cb859fb2 in __GI_raise (sig=10) from /lib/libc.so.6
Backtrace stopped: previous frame inner to this frame (corrupt stack?)
)";

TEST_F(GdbText, ThreadsOfAProgram) {
  const auto imported = read(kProgram);
  ASSERT_TRUE(imported);
  EXPECT_TRUE(imported->warnings.empty());
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.sources[0].name, "threads");
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kOther);
  EXPECT_EQ(info(0).vcpu, recording::kNoVcpu);
  EXPECT_EQ(info(0).pid, 6433u);
  EXPECT_EQ(info(0).tid, 6435u);
  EXPECT_EQ(info(0).level, PrivilegeLevel::kUnknown);
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_EQ(recorded.thread_names[0].name, "worker two");
  EXPECT_EQ(frames(0),
            (std::vector<std::string>{
                "__libc_pause", "in1 (inlined)", "in2 (inlined)", "outer",
                "(anonymous namespace)::Holder<long>::operator<",
                "std::__invoke_impl<int, (anonymous namespace)::Holder<unsigned long>&, int> "
                "(inlined)",
                "std::_Function_handler<int(int), (anonymous namespace)::Holder<long unsigned "
                "int> >::_M_invoke(const std::_Any_data &, int &&)",
                "std::function<int (int)>::operator()(int) const", "[libc.so.6] 0x7f80cb9278eb"}));
  EXPECT_EQ(recorded.images[0].path, "/lib/x86_64-linux-gnu/libc.so.6");
  const auto in2 = frame_of("in2");
  EXPECT_EQ(recorded.texts[in2.file], "t.cpp");
  EXPECT_EQ(in2.line, 9u);
  EXPECT_EQ(in2.address.value, 0x55aafaed4371u);
  EXPECT_EQ(in2.kind, FrameKind::kCode);
}

TEST_F(GdbText, CodeThatASignalInterruptedIsWhereItWas) {
  ASSERT_TRUE(read(kProgram));
  EXPECT_EQ(frames(1),
            (std::vector<std::string>{"__libc_pause", "handler", "__pthread_kill_implementation",
                                      "[libc.so.6] __GI_raise"}));
  EXPECT_FALSE(frame_of("handler").exact);
  EXPECT_TRUE(frame_of("__pthread_kill_implementation").exact);
  EXPECT_FALSE(frame_of("__GI_raise").exact);
}

TEST_F(GdbText, ASignalAloneIsAStack) {
  ASSERT_TRUE(read("#0  <signal handler called>\n#1  0x20 in b ()\n#0  <signal handler called>\n"));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(frames(0), (std::vector<std::string>{"b"}));
  EXPECT_TRUE(frame_of("b").exact);
  EXPECT_EQ(frames(1), (std::vector<std::string>{"<signal handler called>"}));
}

TEST_F(GdbText, AThreadMayStandBehindTheMarkOfARound) {
  const std::string mark = "-<!OSDK_PROF_BT_ROUND!>-";
  const std::string text = mark + "Thread 1 (Thread 1.1 (CPU#0 [running])):\n#0  0x10 in a ()\n" +
                           mark + "Thread 2 (Thread 1.2 (CPU#1 [running])):\n#0  0x20 in b ()\n" +
                           mark + "Thread 3 (Thread 0x7f41 (LWP 6643) \"x\"):\n#0  0x30 in c ()\n" +
                           mark;
  const auto imported = read(text);
  ASSERT_TRUE(imported);
  EXPECT_TRUE(imported->warnings.empty());
  ASSERT_EQ(recorded.samples.size(), 3u);
  EXPECT_EQ(info(0).vcpu, VcpuId{0});
  EXPECT_EQ(info(1).vcpu, VcpuId{1});
  EXPECT_EQ(info(2).tid, 6643u);
  EXPECT_EQ(info(0).time_ns, 0u);
  EXPECT_EQ(info(1).time_ns, 1u);
  EXPECT_EQ(info(2).time_ns, 2u);
  EXPECT_EQ(gdb_text_likeness({"input", as_bytes(text), {}}, {}), Likeness::kCertain);
}

// A terminal has colours, and lines that are wrapped.
TEST_F(GdbText, ColorsAndWrappedLines) {
  const std::string text =
      "\r\nThread 1 (Thread 0x7f41432cd440 (LWP 6642) \"prog\"):\r\n"
      "#0  \x1b[34m0x00007f4142ef1df2\x1b[m in \x1b[33m__libc_pause\x1b[m ()\r\n"
      "    at \x1b[32m../sysdeps/unix/sysv/linux/pause.c\x1b[m:29\r\n"
      "        \x1b[36msc_ret\x1b[m = -514\r\n"
      "        at = 5\r\n"
      "#1  \x1b[34m0x00005605a86f92c0\x1b[m in \x1b[33mhandler\x1b[m () at t.cpp:15\r\n"
      "No locals.\r\n"
      "#2  \x1b[2m<signal handler called>\x1b[m\r\n"
      "#3  \x1b[33m__pthread_kill_implementation\x1b[m (\r\n"
      "    \x1b[36mthreadid\x1b[m=<optimized out>, \x1b[36msigno=signo@entry\x1b[m=10, \r\n"
      "    \x1b[36mno_tid=no_tid@entry\x1b[m=0) at \x1b[32m./nptl/pthread_kill.c\x1b[m:44\r\n"
      "        \x1b[36mtid\x1b[m = \x1b[2m<optimized out>\x1b[m\r\n"
      "#4  \x1b[34m0x00007f4142ea8f4f\x1b[m in \x1b[33m__pthread_kill_internal\x1b[m (\r\n"
      "    \x1b[36msigno\x1b[m=10)\r\n"
      "    from \x1b[32m/lib/libc.so.6\x1b[m\r\n";
  const auto imported = read(text);
  ASSERT_TRUE(imported);
  EXPECT_TRUE(imported->warnings.empty());
  EXPECT_EQ(frames(0),
            (std::vector<std::string>{"__libc_pause", "handler", "__pthread_kill_implementation",
                                      "[libc.so.6] __pthread_kill_internal"}));
  const auto pause = frame_of("__libc_pause");
  EXPECT_EQ(recorded.texts[pause.file], "../sysdeps/unix/sysv/linux/pause.c");
  EXPECT_EQ(pause.line, 29u);
  EXPECT_EQ(frame_of("__pthread_kill_implementation").line, 44u);
}

TEST_F(GdbText, StacksWithoutThreads) {
  ASSERT_TRUE(
      read("#0  0x10 in a () at a.c:1\n#1  0x20 in b ()\n(More stack frames follow...)\n"
           "#0  0x10 in a () at a.c:1\n"));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(frames(0), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(frames(1), (std::vector<std::string>{"a"}));
  EXPECT_EQ(info(0).tid, std::nullopt);
  EXPECT_EQ(info(1).time_ns, 1u);
}

TEST_F(GdbText, AStackThatIsTooDeepKeepsItsLeaf) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += fmt::format("#{}  {:#x} in f{} ()\n", i, i, i);
  ASSERT_TRUE(read(text));
  ASSERT_EQ(recorded.samples.size(), 1u);
  EXPECT_EQ(frames(0).size(), 512u);
  EXPECT_EQ(frames(0)[511], "f511");
}

TEST_F(GdbText, SeveralFiles) {
  const std::string one = "Thread 1 (Thread 1.1 (CPU#0 [running])):\n#0  0x1 in a ()\n";
  ASSERT_TRUE(read(std::vector<std::string>{one, one}));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(info(1).time_ns, 1u);
}

TEST_F(GdbText, BothKindsOfThreads) {
  ASSERT_TRUE(
      read("Thread 7 (Thread 12):\n#0  0x1 in a ()\n"
           "Thread 1 (Thread 1.1 (CPU#0 [running])):\n#0  0x1 in a ()\n"));
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[1].name, "cpu");
  EXPECT_EQ(info(0).tid, 7u);
  EXPECT_EQ(info(1).source, 2u);
  EXPECT_EQ(recorded.statistics_of[1].due, 1u);
  EXPECT_EQ(recorded.statistics_of[2].due, 1u);
}

TEST_F(GdbText, CountsWhatItLeavesOut) {
  const auto imported = read(
      "Thread 2 (Thread 1.2 (CPU#1 [running])):\n"
      "Thread 1 (Thread 1.1 (CPU#0 [running])):\n#0  0x1 in a ()\n#x\n#2\n"
      "Thread 1 (Thread 1.1 (CPU#65535 [running])):\n#0  0x1 in a ()\n");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 1u);
  EXPECT_EQ(imported->warnings, std::vector<std::string>{
                                    "input: 4 lines are left out; the first is at line 1: a thread "
                                    "without frames"});
}

TEST_F(GdbText, SaysWhatItExpected) {
  const auto imported = read("nothing\n#x\n");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, ErrorCode::kFormat);
  EXPECT_EQ(imported.error().message,
            "input: no backtrace of gdb: no line is a frame, such as '#0  0xffffffff81000000 in "
            "main ()'; line 2: no frame of gdb, such as '#0  0xffffffff81000000 in main ()'");
}

TEST_F(GdbText, KeepsWhatCameBeforeACut) {
  const std::string whole = std::string(kTwoCaptures).substr(0, 4000) + kProgram;
  std::size_t samples = 0;
  for (std::size_t size = 0; size <= whole.size(); size += 7) {
    const auto imported = read(whole.substr(0, size));
    ASSERT_GE(recorded.samples.size(), samples) << size;
    ASSERT_EQ(imported ? imported->records : 0, recorded.samples.size());
    samples = recorded.samples.size();
  }
  EXPECT_GT(samples, 3u);
}

TEST_F(GdbText, ItsBeginning) {
  const auto likeness = [](const std::string& text) {
    return gdb_text_likeness({"input", as_bytes(text), {}}, {});
  };
  EXPECT_EQ(likeness(kTwoCaptures), Likeness::kCertain);
  EXPECT_EQ(likeness(kProgram), Likeness::kCertain);
  EXPECT_EQ(likeness("#0  0x1 in a ()\n#1  0x2 in b () at b.c:1\n"), Likeness::kFits);
  constexpr const char* kThread = "Thread 1 (Thread 0x7f00 (LWP 4) \"w\"):\n";
  constexpr const char* kInlined =
      "#0  leaf_b (n=7500) at w.c:10\n#1  0x0000555555555131 in main () at w.c:3\n";
  EXPECT_EQ(likeness(std::string(kThread) + kInlined), Likeness::kCertain);
  EXPECT_EQ(likeness(kInlined), Likeness::kFits);
  EXPECT_EQ(likeness("#0  0x1 in a () at a.c:1\n#1  b (n=1) at a.c:2\n"), Likeness::kFits);
  EXPECT_EQ(likeness("#0  0x1 in a () from /lib/libc.so.6\n        i = 18\nNo locals.\n"
                     "#1  b () from /lib/libc.so.6\n"),
            Likeness::kFits);
  EXPECT_EQ(likeness("#0  nothing at w.c:1\n#1  nothing at w.c:2\n"), Likeness::kNone);
  EXPECT_EQ(likeness("#0  0x1 in a () at a.c:1\nwords\n#1  b () at a.c:2\n"), Likeness::kNone);
  EXPECT_EQ(likeness(""), Likeness::kNone);
  EXPECT_EQ(likeness("#0 nothing\n#1 nothing\n"), Likeness::kNone);
  EXPECT_EQ(likeness("main;read 12\n"), Likeness::kNone);
  EXPECT_EQ(likeness("perf  12 [000] 1.000001: 1 cycles:\n\t 12 f (x)\n"), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
