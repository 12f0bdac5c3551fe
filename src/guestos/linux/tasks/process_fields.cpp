#include "guestos/linux/tasks/process_fields.h"

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "guestos/linux/types/field_finder.h"

namespace ringside::guestos {
namespace {

void find_task(FieldFinder& find, ProcessFields& fields) {
  StructFinder task(find, "task_struct");
  fields.state = task.need("__state", "state");  // renamed in 5.14
  fields.exit_state = task.need("exit_state");
  fields.tasks = task.need("tasks");
  fields.thread_node = task.need("thread_node");
  fields.group_leader = task.need("group_leader");
  fields.real_parent = task.need("real_parent");
  fields.signal = task.need("signal");
  fields.credentials = task.need("real_cred");
  fields.run_time = task.need("se.sum_exec_runtime");
  fields.start = task.need("start_boottime", "real_start_time");        // renamed in 5.5
  fields.cpu = task.need("thread_info.cpu", "cpu", "recent_used_cpu");  // moved by architecture
  fields.flags = task.need("flags");
  fields.priority = task.maybe("static_prio");
  fields.kthread = task.maybe("worker_private");
  fields.kthread_name = find.maybe("kthread", {"full_name"});
  (void)task.need("pid");
  (void)task.need("tgid");
  (void)task.need("comm");
  (void)task.need("mm");
  fields.task_bytes = task.extent();
}

// Linux before 6.2: an array of numbers in struct mm_rss_stat; later one of struct percpu_counter,
// of which /proc shows the common part too (percpu_counter_read_positive()).
void find_resident(FieldFinder& find, StructFinder& mm, ProcessFields& fields) {
  if (const auto counts = mm.maybe("rss_stat.count")) {
    fields.resident = *counts;
    fields.resident_stride = counts->size / 4;
    return;
  }
  fields.resident = mm.need("rss_stat");
  fields.resident_stride = find.need_size("percpu_counter");
  fields.resident_at = find.need("percpu_counter", {"count"}).offset;
}

// signal_struct.pids by enum pid_type of include/linux/pid.h.
std::optional<ProcessFields::Jobs> find_jobs(const FieldFinder& find, StructFinder& signal,
                                             std::size_t word) {
  const auto pids = signal.maybe("pids");
  const auto session = find.types().enumerator("PIDTYPE_SID");
  const auto group = find.types().enumerator("PIDTYPE_PGID");
  const auto numbers = find.maybe("pid", {"numbers"});
  const auto number = find.maybe("upid", {"nr"});
  const auto foreground = find.maybe("tty_struct", {"ctrl.pgrp", "pgrp"});  // moved in 5.16
  if (!pids || !session || !group || !numbers || !number || !foreground) return std::nullopt;
  const auto slot = [&](std::int64_t kind) {
    return Field{pids->offset + static_cast<std::uint32_t>(kind) * static_cast<std::uint32_t>(word),
                 static_cast<std::uint32_t>(word)};
  };
  return ProcessFields::Jobs{slot(*session), slot(*group),
                             Field{numbers->offset + number->offset, number->size}, *foreground};
}

}  // namespace

Result<ProcessFields> ProcessFields::of(const elf::ElfFile& kernel, const TypeSource& types) {
  FieldFinder find(types);
  ProcessFields fields;
  find_task(find, fields);
  StructFinder signal(find, "signal_struct");
  fields.threads = signal.need("thread_head");
  fields.ended_run_time = signal.need("sum_sched_runtime");
  fields.terminal = signal.need("tty");
  fields.jobs = find_jobs(find, signal, arch::roles_of(kernel.arch()).pointer_size);
  fields.signal_bytes = signal.extent();
  fields.user = find.need("cred", {"euid"});
  fields.terminal_name = find.need("tty_struct", {"name"});
  StructFinder mm(find, "mm_struct");
  fields.total_pages = mm.need("total_vm");
  fields.locked_pages = mm.maybe("locked_vm");
  fields.arguments = mm.need("arg_start");
  fields.arguments_end = mm.need("arg_end");
  find_resident(find, mm, fields);
  fields.mm_bytes = mm.extent();
  RINGSIDE_TRY(find.result(kernel.name()));
  return fields;
}

}  // namespace ringside::guestos
