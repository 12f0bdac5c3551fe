#include "cli/perf_answers.h"

#include <algorithm>
#include <array>

#include "base/split.h"

namespace ringside::cli {
namespace {

struct Answer {
  std::string_view path;   // of the command that an option is typed behind; empty: a command
  std::string_view words;  // spellings, with blanks between
  std::string_view text;
};

constexpr std::array kCommands = {
    Answer{{}, "top", "'ringside ps --watch' shows processes, 'ringside profile' functions"},
    Answer{{}, "evlist", "'ringside report --events' lists the events"},
    Answer{{}, "buildid-list", "'ringside report --build-ids' lists them"},
    Answer{{}, "kmem", "'ringside mem report' shows who has the memory"},
    Answer{{}, "data", "'ringside export' converts recordings"},
    Answer{{}, "config", "ringside.toml has a project's settings"},
    Answer{{}, "inject", "ringside reads what 'perf inject' writes"},
    Answer{{}, "archive buildid-cache", "files are found by build id below /usr/lib/debug"},
    Answer{{}, "kvm", "ringside samples the guest; 'perf kvm stat' on the host counts its exits"},
    Answer{{}, "c2c", "it needs addresses of memory accesses, which the host's perf samples"},
    Answer{{}, "stat", "ringside samples, and does not count; docs/roadmap.md has what is planned"},
    Answer{{},
           "list probe trace ftrace",
           "the clock is the one event; docs/roadmap.md has what is planned"},
    Answer{{},
           "sched",
           "'ringside view' shows threads over time; docs/roadmap.md has what is planned"},
    Answer{{}, "timechart", "'ringside view' shows threads over time"},
    Answer{{}, "lock", "docs/roadmap.md has what is planned"},
    Answer{{}, "load", "'ringside view' opens a recording in the Firefox Profiler"},
    Answer{
        {}, "run start", "'ringside record -- qemu-system-x86_64 …' starts a guest and samples it"},
    Answer{{}, "attach", "'ringside record --gdb ADDR' attaches to a running guest"},
    Answer{{}, "bt", "'ringside profile --one-shot' prints every vCPU's stack"},
    Answer{{}, "addr2line", "'ringside symbolize -e FILE ADDRESS' does that"},
};

constexpr std::array kOptions = {
    Answer{"ringside record", "-p --pid",
           "record samples the whole guest; 'ringside report --pid N' shows one"},
    Answer{"ringside record", "-t --tid",
           "record samples the whole guest; 'ringside report --tid N' shows one"},
    Answer{"ringside record", "--uid",
           "record samples the whole guest; 'ringside report --comm NAME' shows one program"},
    Answer{"ringside record", "-e --event",
           "ringside samples by the guest's time, as perf's cpu-clock; leave it out, -F HZ is the "
           "rate"},
    Answer{"ringside record", "-c --count --freq-max", "-F HZ or --interval TIME is the rate"},
    Answer{"ringside record", "-b --branch-any -j --branch-filter",
           "branches are not recorded; stacks have the callers, leave it out"},
    Answer{"ringside record", "-W --weight --data --phys-data --transaction",
           "samples are of time, and have no memory access; the host's perf samples those"},
    Answer{"ringside record", "-R --raw-samples", "samples have no raw data; leave it out"},
    Answer{"ringside record", "-I --intr-regs --user-regs",
           "--keep-captures stores the registers of each sample"},
    Answer{"ringside record", "-P --period -T --timestamp --sample-cpu",
           "every sample has its period, time and vCPU; leave it out"},
    Answer{"ringside record", "-i --inherit --no-inherit",
           "record samples the whole guest; 'ringside report --pid N' shows one process"},
    Answer{"ringside record", "-s --stat --per-thread",
           "every sample has its thread; 'ringside report --sort tid' shows each"},
    Answer{"ringside record", "-G --cgroup --all-cgroups",
           "'ringside report --sort cgroup' shows control groups"},
    Answer{"ringside record", "--switch-output --switch-max-files --max-size --overwrite",
           "a recording is one file; --duration TIME ends it"},
    Answer{"ringside record", "-z --compression-level",
           "a recording has no level of compression; leave it out"},
    Answer{"ringside record", "-m --mmap-pages --mmap-flush --aio --affinity --threads",
           "the buffers are ringside's own; leave it out"},
    Answer{"ringside record", "-B -N --no-buildid --no-buildid-cache --buildid-all --buildid-mmap",
           "a recording has the build ids of all files; leave it out"},
    Answer{"ringside record", "-r --realtime",
           "--host-priority gives QEMU and its session a higher priority"},
    Answer{"ringside record", "-q --quiet", "2>/dev/null leaves messages out"},
    Answer{"ringside record", "--all-kernel --kernel-callchains", "-k samples kernel code only"},
    Answer{"ringside record", "--all-user --user-callchains", "-u samples user code only"},
    Answer{"ringside record", "--exclude-perf", "ringside runs outside of the guest; leave it out"},
    Answer{"ringside record", "--kcore --vmlinux", "--kernel FILE is the kernel's file"},
    Answer{"ringside record", "--off-cpu --switch-events",
           "record samples what runs; 'ringside view' shows threads over time"},
    Answer{"ringside record", "--control",
           "SIGINT ends a recording; --delay and --after TEXT start it later"},
    Answer{"ringside report", "--tui --gtk",
           "the table has a pager; 'ringside view' opens a browser"},
    Answer{"ringside report", "--vmlinux -m --modules", "--kernel FILE is the kernel's file"},
    Answer{"ringside report", "--kallsyms", "--symbols FILE takes it"},
    Answer{"ringside report", "--symfs", "'ringside record --sysroot DIR' takes the guest's files"},
    Answer{"ringside report", "-b --branch-stack --branch-history --total-cycles",
           "branches are not read; 'ringside report -g callee' shows callers"},
    Answer{"ringside report", "--mem-mode",
           "accesses to memory are not read; the host's 'perf mem report' shows those"},
    Answer{"ringside report", "--stats -I --show-info", "--header has the statistics"},
    Answer{"ringside report", "--tasks", "--sort tid has a row for each thread"},
    Answer{"ringside report", "--mmaps", "--build-ids lists the files with samples"},
    Answer{"ringside report", "-T --threads", "--sort tid has a row for each thread"},
    Answer{"ringside report", "-D --dump-raw-trace", "'ringside script' prints every sample"},
    Answer{"ringside report", "-f --force", "files of any owner are read; leave it out"},
    Answer{"ringside script", "-s --script -g --gen-script -l --list",
           "pipe the text into the script: 'ringside script | SCRIPT'"},
    Answer{"ringside script", "-D --dump-raw-trace",
           "'ringside export --format json-lines' has all of each sample"},
    Answer{"ringside script", "--show-task-events --show-mmap-events --show-switch-events",
           "samples alone are printed; 'ringside view' shows threads over time"},
    Answer{"ringside script", "--show-lost-events", "'ringside report --header' has what was lost"},
    Answer{"ringside script", "-I --show-info", "--header has the machine and the statistics"},
    Answer{"ringside script", "-a --all-cpus", "samples of all vCPUs are printed; leave it out"},
    Answer{"ringside script",
           "-L --Latency --itrace --insn-trace --call-trace --call-ret-trace --xed",
           "traces of instructions are not read; the host's perf reads those"},
    Answer{"ringside script", "--per-event-dump", "--source NAME prints the samples of one event"},
    Answer{"ringside script", "--vmlinux", "--kernel FILE is the kernel's file"},
    Answer{"ringside script", "--kallsyms", "--symbols FILE takes it"},
    Answer{"ringside script", "--symfs", "'ringside record --sysroot DIR' takes the guest's files"},
    Answer{"ringside script", "-f --force", "files of any owner are read; leave it out"},
    Answer{"ringside annotate", "-s --symbol",
           "the function stands without an option: 'ringside annotate NAME'"},
    Answer{"ringside annotate", "--vmlinux -m --modules", "--kernel FILE is the kernel's file"},
    Answer{"ringside annotate", "--tui --gtk --stdio2", "the text has a pager; leave it out"},
    Answer{"ringside annotate", "-M", "--disassembler-style intel or att"},
    Answer{"ringside annotate", "-l --print-line -P --full-paths",
           "source lines stand between instructions; leave it out"},
    Answer{"ringside annotate", "--asm-raw", "--show-code shows the bytes of each instruction"},
    Answer{"ringside annotate", "--objdump", "ringside disassembles by itself; leave it out"},
    Answer{"ringside annotate", "-n --show-nr-samples --show-total-period",
           "--format json has the numbers"},
    Answer{
        "ringside annotate", "--symfs",
        "--source DIR has source files; 'ringside record --sysroot DIR' takes the guest's files"},
    Answer{"ringside annotate", "-D --dump-raw-trace", "'ringside script' prints every sample"},
    Answer{"ringside annotate", "-f --force", "files of any owner are read; leave it out"},
};

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty())
    if (take_word(words) == word) return true;
  return false;
}

template <std::size_t N>
std::string_view answer_of(const std::array<Answer, N>& answers, std::string_view path,
                           std::string_view word) {
  const auto found = std::find_if(answers.begin(), answers.end(), [&](const Answer& answer) {
    return answer.path == path && has_word(answer.words, word);
  });
  return found == answers.end() ? std::string_view() : found->text;
}

}  // namespace

std::string_view answer_to_command(std::string_view command) {
  return answer_of(kCommands, {}, command);
}

std::string_view answer_to_option(std::string_view path, std::string_view option) {
  return answer_of(kOptions, path, option);
}

}  // namespace ringside::cli
