#include "guestos/linux/tasks/process_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"

namespace ringside::guestos {
namespace {

void link(list_head& head) { head.next = head.prev = &head; }
void append(list_head& head, list_head& node) {
  node.prev = head.prev;
  node.next = &head;
  head.prev->next = &node;
  head.prev = &node;
}

// Linux's tasks in the test's own memory.
class ProcessTable : public ::testing::Test {
 protected:
  struct Process {
    task_struct task{};
    signal_struct signal{};
    mm_struct mm{};
  };

  ProcessTable() {
    link(swapper_.task.tasks);
    set(swapper_.task, swapper_, 0, "swapper/0");
  }
  void set(task_struct& task, Process& process, int tid, const char* comm) {
    if (process.signal.thread_head.next == nullptr) link(process.signal.thread_head);
    append(process.signal.thread_head, task.thread_node);
    task.pid = tid;
    task.tgid = process.task.pid;
    task.group_leader = &process.task;
    task.real_parent = &swapper_.task;
    task.signal = &process.signal;
    task.real_cred = &cred_;
    task.mm = &process.mm;
    std::strcpy(task.comm, comm);
  }
  Process& add(int pid, const char* comm) {
    Process& process = processes_.emplace_back();
    process.task.pid = pid;
    set(process.task, process, pid, comm);
    append(swapper_.task.tasks, process.task.tasks);
    return process;
  }
  [[nodiscard]] Result<std::vector<GuestThread>> read(const task_struct& from) {
    return read_threads(types_, fields_, reader_, {reinterpret_cast<std::uint64_t>(&from)});
  }
  [[nodiscard]] char state(unsigned state, int exit_state) {
    processes_.back().task.__state = state;
    processes_.back().task.exit_state = exit_state;
    return read(swapper_.task)->back().state;
  }

  std::shared_ptr<const elf::ElfFile> file_ = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  std::unique_ptr<TypeSource> source_ = open_types(file_).value();
  LinuxTypes types_ = LinuxTypes::of(*file_, *source_).value();
  ProcessFields fields_ = ProcessFields::of(*file_, *source_).value();
  testing::OwnSpace own_memory_;
  KernelReader reader_{own_memory_, Arch::kX86_64};
  cred cred_{};
  Process swapper_;
  std::deque<Process> processes_;
};

TEST_F(ProcessTable, WhatAProcessIs) {
  tty_struct tty{0, "ttyS0", {}};
  cred_.euid.val = 1000;
  cred_.uid.val = 5;
  Process& shell = add(105, "sh");
  Process& child = add(110, "sleep");
  child.task.real_parent = &shell.task;
  child.task.cpu = 3;
  child.task.se.sum_exec_runtime = 16'000'000;
  child.task.start_boottime = 6'000'000'000;
  child.task.static_prio = 115;
  child.signal.tty = &tty;
  child.mm.locked_vm = 1;
  child.signal.sum_sched_runtime = 7;
  child.mm.total_vm = 565;
  child.mm.arg_start = 0x7ffe1000;
  child.mm.arg_end = 0x7ffe1010;
  const long counts[] = {1, 20, 300, 4000};  // file, anonymous, swapped out, shared
  std::copy_n(counts, 4, child.mm.rss_stat.count);
  const auto threads = read(swapper_.task);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 2u);
  EXPECT_EQ(threads->at(0).comm, "sh");
  const GuestThread& found = threads->at(1);
  EXPECT_EQ(found.pid, 110u);
  EXPECT_EQ(found.tid, 110u);
  EXPECT_EQ(found.parent, 105u);
  EXPECT_EQ(found.user, 1000u);
  EXPECT_EQ(found.cpu, 3u);
  EXPECT_EQ(found.state, 'R');
  EXPECT_EQ(found.cpu_time_ns, 16'000'000u);
  EXPECT_EQ(found.ended_cpu_time_ns, 7u);
  EXPECT_EQ(found.started_ns, 6'000'000'000u);
  EXPECT_EQ(found.terminal, "ttyS0");
  EXPECT_EQ(found.nice, -5);
  EXPECT_TRUE(found.locks_memory);
  EXPECT_EQ(found.size, 565u * 4096);
  EXPECT_EQ(found.resident, 4021u * 4096);
  EXPECT_EQ(found.arguments_end - found.arguments, 16u);
  EXPECT_FALSE(found.is_kernel_thread);
}

TEST_F(ProcessTable, ThreadsFromAnyOfThem) {
  Process& server = add(7, "server");
  task_struct second{};
  set(second, server, 9, "worker");
  add(8, "other");
  // An idle thread's list leads into the others'.
  task_struct idle{};
  idle.group_leader = &idle;
  idle.tasks.next = &server.task.tasks;
  for (const task_struct* from : {&swapper_.task, &server.task, &second, &idle}) {
    const auto threads = read(*from);
    ASSERT_TRUE(threads) << threads.error().message;
    ASSERT_EQ(threads->size(), 3u);
    EXPECT_EQ(threads->at(1).pid, 7u);
    EXPECT_EQ(threads->at(1).tid, 9u);
    EXPECT_EQ(threads->at(1).comm, "worker");
    EXPECT_EQ(threads->at(2).pid, 8u);
  }
}

// As a shell on a console with two jobs, of which one has the terminal.
TEST_F(ProcessTable, SessionsAndTheirJobs) {
  pid session{1, 0, {{105, nullptr}}}, job{1, 0, {{110, nullptr}}};
  tty_struct tty{0, "ttyS0", {&job, &session}};
  Process& shell = add(105, "sh");
  Process& front = add(110, "dd");
  Process& back = add(111, "sleep");
  add(112, "kthreadd");
  for (Process* process : {&shell, &front, &back}) {
    process->signal.tty = &tty;
    process->signal.pids[PIDTYPE_SID] = &session;
    process->signal.pids[PIDTYPE_PGID] = process == &front ? &job : &session;
  }
  const auto threads = read(swapper_.task);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 4u);
  for (const GuestThread& thread : *threads) {
    EXPECT_EQ(thread.leads_session, thread.pid == 105) << thread.comm;
    EXPECT_EQ(thread.is_in_foreground, thread.pid == 110) << thread.comm;
  }
  shell.signal.pids[PIDTYPE_SID] = reinterpret_cast<pid*>(0x10);
  EXPECT_EQ(read(swapper_.task).error().code, ErrorCode::kUnreadable);
}

// fs/proc/array.c, task_state_array; the numbers are those of include/linux/sched.h.
TEST_F(ProcessTable, States) {
  add(1, "init");
  EXPECT_EQ(state(0x000, 0), 'R');
  EXPECT_EQ(state(0x001, 0), 'S');
  EXPECT_EQ(state(0x002, 0), 'D');
  EXPECT_EQ(state(0x102, 0), 'D');  // TASK_KILLABLE
  EXPECT_EQ(state(0x402, 0), 'I');
  EXPECT_EQ(state(0x104, 0), 'T');  // TASK_STOPPED
  EXPECT_EQ(state(0x008, 0), 't');
  EXPECT_EQ(state(0x040, 0), 'P');
  EXPECT_EQ(state(0x080, 0x20), 'Z');
  EXPECT_EQ(state(0x080, 0x10), 'X');
}

TEST_F(ProcessTable, KernelThreadsHaveLongNames) {
  kthread more{0, "rcu_tasks_kthread"};
  Process& rcu = add(11, "rcu_tasks_kthre");
  rcu.task.flags = 0x00200000;
  rcu.task.worker_private = &more;
  GuestThread thread = read(swapper_.task)->front();
  EXPECT_TRUE(thread.is_kernel_thread);
  EXPECT_EQ(thread.comm, "rcu_tasks_kthread");
  EXPECT_EQ(thread.space, GuestVirt{0});
  rcu.task.flags |= 0x20;  // a work queue's worker: the pointer is to something else
  EXPECT_EQ(read(swapper_.task)->front().comm, "rcu_tasks_kthre");
}

TEST_F(ProcessTable, DamageIsReported) {
  Process& first = add(1, "init");
  Process& second = add(2, "kthreadd");
  const list_head good = first.task.tasks;
  first.task.tasks.next = &first.task.tasks;  // ends in itself: what was seen is reported
  EXPECT_EQ(read(swapper_.task)->size(), 1u);
  first.task.tasks.next = reinterpret_cast<list_head*>(0xdead000000000100);  // LIST_POISON1
  EXPECT_EQ(read(swapper_.task).error().code, ErrorCode::kUnreadable);
  first.task.tasks = good;
  second.signal.thread_head.next = &first.task.thread_node;  // another process's thread
  EXPECT_EQ(read(swapper_.task).error().code, ErrorCode::kDisturbed);
  second.signal.thread_head.next = &second.task.thread_node;
  second.task.thread_node.next = &second.task.thread_node;  // never comes to the head
  EXPECT_EQ(read(swapper_.task).error().code, ErrorCode::kDisturbed);
}

}  // namespace
}  // namespace ringside::guestos
