#include "guestos/linux/tasks/process_table.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace ringside::guestos {
namespace {

constexpr std::size_t kMaxThreads = 1 << 20;
// PF_KTHREAD and PF_WQ_WORKER, include/linux/sched.h.
constexpr std::uint64_t kKernelThread = 0x00200000;
constexpr std::uint64_t kQueueWorker = 0x00000020;

constexpr int kPriorityOfNice0 = 120;  // DEFAULT_PRIO, include/linux/sched/prio.h

class TableReader {
 public:
  TableReader(const LinuxTypes& types, const ProcessFields& fields, const KernelReader& read)
      : types_(types), fields_(fields), read_(read), word_(read.word_size()) {}

  Result<std::vector<GuestThread>> run(GuestVirt any_task);

 private:
  Result<void> read_process(const KernelObject& leader);
  Result<GuestThread> read_thread(const KernelObject& task, const KernelObject& signal);
  Result<std::string> name_of(const KernelObject& task, std::uint64_t flags);
  Result<void> read_memory(GuestThread& thread);
  Result<void> read_terminal(GuestThread& thread, const KernelObject& signal);
  Result<void> read_jobs(GuestThread& thread, const KernelObject& signal, GuestVirt foreground);
  Result<KernelObject> task_at(GuestVirt at) {
    return read_.object(at, fields_.task_bytes, "struct task_struct");
  }
  // The next of a struct list_head.
  GuestVirt next(const KernelObject& object, Field list) const {
    return {object.number_at(list.offset, word_)};
  }

  const LinuxTypes& types_;
  const ProcessFields& fields_;
  const KernelReader& read_;
  std::size_t word_;
  std::vector<GuestThread> threads_;
  std::unordered_set<std::uint64_t> seen_;  // threads
};

// get_task_state() in fs/proc/array.c, and the constants of include/linux/sched.h since 4.14.
char state_letter(std::uint64_t state, std::uint64_t exit_state) {
  constexpr std::uint64_t kUninterruptible = 2;
  constexpr std::uint64_t kReported = 0x7f;
  constexpr std::uint64_t kIdle = 0x402;       // TASK_NOLOAD, TASK_UNINTERRUPTIBLE
  constexpr std::uint64_t kLockWait = 0x1000;  // TASK_RTLOCK_WAIT
  constexpr std::string_view kLetters = "RSDTtXZPI";
  std::uint64_t reported = (state | exit_state) & kReported;
  if ((state & kIdle) == kIdle) return 'I';
  if ((state & kLockWait) != 0) reported = kUninterruptible;
  return kLetters[static_cast<std::size_t>(std::bit_width(reported))];
}

// Processes are in a ring, the first process 0 among them. The idle threads of other CPUs are not:
// theirs leads into it.
Result<std::vector<GuestThread>> TableReader::run(GuestVirt any_task) {
  RINGSIDE_ASSIGN(const KernelObject any, task_at(any_task));
  RINGSIDE_ASSIGN(const KernelObject first, task_at(any.pointer(fields_.group_leader)));
  std::unordered_set<std::uint64_t> seen;
  GuestVirt at = next(first, fields_.tasks) - fields_.tasks.offset;
  while (seen.insert(at.value).second) {
    RINGSIDE_ASSIGN(const KernelObject leader, task_at(at));
    if (seen.size() > kMaxThreads)
      return fail(ErrorCode::kDisturbed, "the list of processes at {} does not end", any_task);
    const std::uint64_t pid = leader.number(types_.task.pid);
    if (pid != leader.number(types_.task.tgid) ||
        leader.pointer(fields_.group_leader) != leader.address())
      return fail(ErrorCode::kDisturbed, "the list of processes has no process at {}", at);
    if (pid != 0) RINGSIDE_TRY(read_process(leader));
    at = next(leader, fields_.tasks) - fields_.tasks.offset;
  }
  std::sort(threads_.begin(), threads_.end(), [](const GuestThread& a, const GuestThread& b) {
    return std::pair(a.pid, a.tid) < std::pair(b.pid, b.tid);
  });
  return std::move(threads_);
}

Result<void> TableReader::read_process(const KernelObject& leader) {
  RINGSIDE_ASSIGN(
      const KernelObject signal,
      read_.object(leader.pointer(fields_.signal), fields_.signal_bytes, "struct signal_struct"));
  const GuestVirt end = signal.address_of(fields_.threads);
  GuestVirt node = next(signal, fields_.threads);
  while (node != end) {
    RINGSIDE_ASSIGN(const KernelObject task, task_at(node - fields_.thread_node.offset));
    const bool is_ours = task.number(types_.task.tgid) == leader.number(types_.task.pid) &&
                         task.pointer(fields_.signal) == signal.address();
    const bool is_new = seen_.insert(task.address().value).second;
    if (!is_ours || !is_new || threads_.size() == kMaxThreads)
      return fail(ErrorCode::kDisturbed, "the process at {} has no thread at {}", leader.address(),
                  task.address());
    RINGSIDE_ASSIGN(GuestThread thread, read_thread(task, signal));
    threads_.push_back(std::move(thread));
    node = next(task, fields_.thread_node);
  }
  return {};
}

Result<GuestThread> TableReader::read_thread(const KernelObject& task, const KernelObject& signal) {
  const std::uint64_t flags = task.number(fields_.flags);
  GuestThread thread;
  thread.task = task.address();
  thread.space = task.pointer(types_.task.mm);
  thread.pid = static_cast<std::uint32_t>(task.number(types_.task.tgid));
  thread.tid = static_cast<std::uint32_t>(task.number(types_.task.pid));
  thread.cpu = static_cast<std::uint32_t>(task.number(fields_.cpu));
  thread.state = state_letter(task.number(fields_.state), task.number(fields_.exit_state));
  thread.is_kernel_thread = (flags & kKernelThread) != 0;
  thread.cpu_time_ns = task.number(fields_.run_time);
  thread.ended_cpu_time_ns = signal.number(fields_.ended_run_time);
  thread.started_ns = task.number(fields_.start);
  RINGSIDE_ASSIGN(thread.comm, name_of(task, flags));
  RINGSIDE_ASSIGN(const KernelObject parent, task_at(task.pointer(fields_.real_parent)));
  thread.parent = static_cast<std::uint32_t>(parent.number(types_.task.tgid));
  RINGSIDE_ASSIGN(const KernelObject credentials, read_.object(task.pointer(fields_.credentials),
                                                               fields_.user.end(), "struct cred"));
  thread.user = static_cast<std::uint32_t>(credentials.number(fields_.user));
  if (fields_.priority)
    thread.nice = static_cast<int>(task.number(*fields_.priority)) - kPriorityOfNice0;
  RINGSIDE_TRY(read_terminal(thread, signal));
  // A kernel thread may borrow one for a while (kthread_use_mm()).
  if (thread.is_kernel_thread) thread.space = {};
  if (thread.space.value != 0) RINGSIDE_TRY(read_memory(thread));
  return thread;
}

Result<void> TableReader::read_terminal(GuestThread& thread, const KernelObject& signal) {
  GuestVirt foreground;
  if (const GuestVirt terminal = signal.pointer(fields_.terminal); terminal.value != 0) {
    std::uint32_t bytes = fields_.terminal_name.end();
    if (fields_.jobs) bytes = std::max(bytes, fields_.jobs->foreground.end());
    RINGSIDE_ASSIGN(const KernelObject tty, read_.object(terminal, bytes, "struct tty_struct"));
    thread.terminal = tty.text(fields_.terminal_name);
    if (fields_.jobs) foreground = tty.pointer(fields_.jobs->foreground);
  }
  return fields_.jobs ? read_jobs(thread, signal, foreground) : Result<void>();
}

// A session has the number of the process that leads it; kernel threads are in none.
Result<void> TableReader::read_jobs(GuestThread& thread, const KernelObject& signal,
                                    GuestVirt foreground) {
  const GuestVirt group = signal.pointer(fields_.jobs->group);
  thread.is_in_foreground = group.value != 0 && group == foreground;
  const GuestVirt session = signal.pointer(fields_.jobs->session);
  if (session.value == 0) return {};
  RINGSIDE_ASSIGN(const KernelObject pid,
                  read_.object(session, fields_.jobs->number.end(), "struct pid"));
  thread.leads_session = pid.number(fields_.jobs->number) == thread.pid;
  return {};
}

// proc_task_name() in fs/proc/array.c, but for what a worker of a work queue does at the moment.
Result<std::string> TableReader::name_of(const KernelObject& task, std::uint64_t flags) {
  std::string comm = task.text(types_.task.comm);
  const bool has_more = fields_.kthread && fields_.kthread_name && (flags & kKernelThread) != 0 &&
                        (flags & kQueueWorker) == 0;
  const GuestVirt kthread = has_more ? task.pointer(*fields_.kthread) : GuestVirt{0};
  if (kthread.value == 0) return comm;
  RINGSIDE_ASSIGN(const GuestVirt name, read_.pointer(kthread + fields_.kthread_name->offset));
  if (name.value == 0) return comm;
  constexpr std::size_t kMost = 64;
  return read_.text(name, kMost);
}

Result<void> TableReader::read_memory(GuestThread& thread) {
  RINGSIDE_ASSIGN(const KernelObject mm,
                  read_.object(thread.space, fields_.mm_bytes, "struct mm_struct"));
  thread.size = mm.number(fields_.total_pages) * types_.page_size;
  thread.locks_memory = fields_.locked_pages && mm.number(*fields_.locked_pages) != 0;
  thread.arguments = mm.pointer(fields_.arguments);
  thread.arguments_end = mm.pointer(fields_.arguments_end);
  // get_mm_rss(): MM_FILEPAGES, MM_ANONPAGES and MM_SHMEMPAGES of include/linux/mm_types_task.h.
  for (const std::uint64_t kind : {0, 1, 3}) {
    const std::size_t size = fields_.resident_at == 0 ? word_ : 8;
    const std::uint64_t pages = mm.number_at(
        fields_.resident.offset + kind * fields_.resident_stride + fields_.resident_at, size);
    const bool is_negative = pages >> (8 * size - 1) != 0;
    if (!is_negative) thread.resident += pages * types_.page_size;
  }
  return {};
}

}  // namespace

Result<std::vector<GuestThread>> read_threads(const LinuxTypes& types, const ProcessFields& fields,
                                              const KernelReader& read, GuestVirt any_task) {
  return TableReader(types, fields, read).run(any_task);
}

}  // namespace ringside::guestos
