#include "guestos/linux/tasks/processes.h"

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "guestos/linux/entry/user_arch.h"
#include "wire/guest_capture.h"
#include "wire/walked_frames.h"

namespace ringside::guestos {
namespace {

// How old what is known of a thread's control group may be.
constexpr std::uint64_t kCgroupNs = 500'000'000;
// Threads whose names are remembered.
constexpr std::size_t kMaxNames = 65536;
// Bytes to read of a user stack where the capture does not record how many were asked for.
constexpr std::size_t kUserStackBytes = 2048;

// The guest has walked it itself, and says whose page tables were in use.
bool has_walked_user_code(const wire::Capture& capture) {
  return wire::WalkedFrames::find(capture, wire::PieceKind::kUserFrames).has_value();
}

}  // namespace

Result<LinuxProcesses> LinuxProcesses::of(const elf::Image& kernel, const AdapterOptions& options) {
  RINGSIDE_ASSIGN(const auto types, open_types(kernel.file, options.debug_files));
  RINGSIDE_ASSIGN(auto current, CurrentTask::of(kernel, *types, options.asynchronous));
  LinuxAddressSpaces spaces(
      current.types(),
      UserImages(kernel, current.types(), HostFiles(options.sysroot, options.initramfs)),
      options.address_space_ids);
  std::optional<UserRoots> roots;
  if (const auto fields = ProcessFields::of(*kernel.file, *types)) {
    roots.emplace(current.types(), *fields);
    if (const auto first = kernel.file->symbol_named("init_task"))
      roots->remember(kernel.to_guest(first->address));
  }
  return LinuxProcesses(std::move(current), std::move(spaces), std::move(roots),
                        Cgroups::of(*types));
}

Result<void> LinuxProcesses::report_name(const TaskView& task, const wire::Capture& capture,
                                         GuestMemory& memory, ProcessUpdates& updates) {
  if (reported_.size() >= kMaxNames) reported_.clear();
  // Every CPU has an idle thread 0, with the CPU's number in its name.
  const bool is_idle = task.pid == 0;
  if (task.tid == 0 && !is_idle) return {};  // not known which of the process's threads it is
  Reported& reported = reported_[task.tid];
  const Name before = reported.name;
  reported.name.pid = task.pid;
  reported.name.comm = is_idle ? "swapper" : task.comm;
  const bool is_other = reported.name != before;
  if (is_other) reported.cgroups = {};  // its address may have been used again
  if (task.pid != before.pid) reported.name.cgroup.clear();
  if (is_other || capture.host_time_ns - reported.cgroup_read_ns >= kCgroupNs)
    RINGSIDE_TRY(read_cgroup(task, capture, memory, reported));
  if (reported.name != before)
    updates.names.push_back({task.pid, task.tid, 0, reported.name.comm, reported.name.cgroup});
  return {};
}

Result<void> LinuxProcesses::read_cgroup(const TaskView& task, const wire::Capture& capture,
                                         GuestMemory& memory, Reported& reported) const {
  // Without physical memory every read stops the guest.
  if (!cgroups_ || memory.physical() == nullptr) return {};
  const KernelReader reader(memory.kernel(), current_.types().arch);
  reported.cgroup_read_ns = capture.host_time_ns;
  const auto set = cgroups_->set_of(task.task, reader);
  if (set && *set == reported.cgroups) return {};
  const auto path = set ? cgroups_->path_of(*set, reader) : tl::unexpected<Error>(set.error());
  if (!path && !is_of_memory(path.error().code)) return tl::unexpected<Error>(path.error());
  if (!path) return {};
  // The task may have ended, and its struct task_struct be another one's by now.
  const Field& tid = current_.types().task.pid;
  const auto now = reader.object(task.task + tid.offset, tid.size, "struct task_struct");
  if (!now && !is_of_memory(now.error().code)) return tl::unexpected<Error>(now.error());
  if (!now || now->number_at(0, tid.size) != task.tid) return {};
  reported.cgroups = *set;
  reported.name.cgroup = *path;
  return {};
}

Result<std::optional<TaskView>> LinuxProcesses::task_of(const wire::Capture& capture,
                                                        GuestMemory& memory) {
  std::optional<TaskView> task = current_.read(capture);
  if (task && roots_) roots_->remember(task->task);
  if (task || !roots_) return task;
  std::optional<GuestVirt> running;
  if (const auto variable = current_.variable_of(capture)) {
    const auto pointer = KernelReader(memory.kernel(), current_.types().arch).pointer(*variable);
    if (pointer) running = *pointer;
    if (running) roots_->remember_first(*running);
  }
  if (const auto named = current_.in_register(capture)) return task_in(*named, capture, memory);
  std::optional<arch::Registers> user;
  if (capture.level == PrivilegeLevel::kKernel) user = current_.user_registers(capture);
  const bool is_at_user_code =
      capture.level == PrivilegeLevel::kUser || user || has_walked_user_code(capture);
  RINGSIDE_ASSIGN(task, roots_->find(capture, is_at_user_code, running, memory.kernel()));
  if (!task) return task;
  task->user = user;
  return task;
}

// A capture from before recipes copy the task. Memory is read later, when the task, its stack and
// its page tables may all be those of a process that has begun since. So the task counts only where
// it has the page tables of the capture, and has begun before that or has the user stack that the
// capture leads to. Randomized addresses set that stack apart from those of other programs. A child
// that fork() has made since, and that calls no execve(), may still be taken for a task that ended.
Result<std::optional<TaskView>> LinuxProcesses::task_in(GuestVirt named,
                                                        const wire::Capture& capture,
                                                        GuestMemory& memory) {
  RINGSIDE_ASSIGN(auto task, roots_->find(capture, true, named, memory.kernel()));
  if (task && task->task != named) task.reset();
  if (!task) return task;
  RINGSIDE_TRY(current_.find_saved(*task, capture, memory.kernel()));
  RINGSIDE_ASSIGN(const bool is_older,
                  roots_->began_before(named, capture.host_time_ns, memory.kernel()));
  const std::uint8_t sp = arch::roles_of(current_.types().arch).sp;
  const bool fits = task->user && task->has_on_first_stack({task->user->get(sp)});
  if (!is_older && !fits) task.reset();
  return task;
}

Result<TaskAttribution> LinuxProcesses::attribute(const wire::Capture& capture, GuestMemory& memory,
                                                  ProcessUpdates& updates) {
  RINGSIDE_ASSIGN(auto task, task_of(capture, memory));
  if (!task) return remembered(capture);
  RINGSIDE_TRY(current_.find_user_pc(*task, memory.kernel()));
  RINGSIDE_TRY(report_name(*task, capture, memory, updates));
  TaskAttribution attribution;
  attribution.pid = task->pid;
  if (task->tid != 0 || task->pid == 0) attribution.tid = task->tid;
  attribution.user = task->user;
  attribution.kernel_stack = task->kernel_stack;
  const bool in_user_code = capture.level == PrivilegeLevel::kUser;
  if (in_user_code || attribution.user)
    attribution.user_arch =
        user_arch(capture.arch, in_user_code ? capture.registers : *attribution.user);
  if (task->is_kernel_thread() || task->is_in_exec()) return attribution;
  // Without physical memory there is no page cache, and every read stops the guest.
  if (memory.physical() == nullptr) return attribution;
  RINGSIDE_ASSIGN(attribution.address_space, spaces_.find(*task, memory, updates));
  remember(capture, attribution.address_space);
  RINGSIDE_ASSIGN(const bool found, find_user_tables(*task, memory));
  updates.new_recipes = updates.new_recipes || found;
  if (!attribution.user) return attribution;
  RINGSIDE_ASSIGN(const bool uses_own, uses_tables_of(*task, capture, memory));
  const bool is_own = uses_own || current_.has_walked(capture);
  attribution.user_stack_is_others = !is_own;
  RINGSIDE_ASSIGN(attribution.user_stack, user_stack(*task, is_own, capture, memory));
  return attribution;
}

void LinuxProcesses::remember(const wire::Capture& capture, std::uint64_t address_space) {
  const auto noted = wire::task_of(capture);
  if (!noted || address_space == 0) return;
  if (noted_.size() >= kMaxNames) noted_.clear();
  noted_[noted->pid] = {noted->address_space, address_space};
}

TaskAttribution LinuxProcesses::remembered(const wire::Capture& capture) const {
  TaskAttribution attribution;
  const auto noted = wire::task_of(capture);
  if (!noted || !has_walked_user_code(capture)) return attribution;
  const auto known = noted_.find(noted->pid);
  if (known == noted_.end() || known->second.first != noted->address_space) return attribution;
  attribution.pid = noted->pid;
  attribution.address_space = known->second.second;
  return attribution;
}

// Both the root of the page tables and the struct that has its address are in the linear map, where
// the kernel allocates them.
Result<bool> LinuxProcesses::find_user_tables(const TaskView& task, GuestMemory& memory) {
  if (current_.knows_user_tables()) return false;
  auto shape = memory.user_tables();
  if (!shape) return false;
  const auto [mm, root] = std::pair(GuestVirt{task.space[0]}, GuestVirt{task.space[1]});
  RINGSIDE_ASSIGN(const auto root_place, memory.kernel().physical_address(root));
  RINGSIDE_ASSIGN(const auto mm_place, memory.kernel().physical_address(mm));
  if (!root_place || !mm_place) return false;
  const std::uint64_t to_linear = root.value - root_place->value;
  if (mm.value - mm_place->value != to_linear) return false;
  current_.adopt({std::move(*shape), to_linear});
  memory.set_linear_distance(to_linear);
  return true;
}

// A vCPU changes to the next task's page tables before it does to its stack (context_switch() in
// kernel/sched/core.c). Where the root cannot be compared it is taken for the task's.
Result<bool> LinuxProcesses::uses_tables_of(const TaskView& task, const wire::Capture& capture,
                                            GuestMemory& memory) const {
  const auto root = arch::user_root(capture.arch, capture.registers);
  if (!root) return true;
  if (const auto own = current_.from_linear({task.space[1]}))
    return is_root_of(capture.arch, *root, *own);
  RINGSIDE_ASSIGN(const auto own, memory.kernel().physical_address({task.space[1]}));
  return !own || is_root_of(capture.arch, *root, own->value);
}

Result<std::vector<std::byte>> LinuxProcesses::user_stack(const TaskView& task, bool is_own,
                                                          const wire::Capture& capture,
                                                          GuestMemory& memory) const {
  const arch::RegisterRoles roles = arch::roles_of(current_.types().arch);
  const GuestVirt sp{task.user->get(roles.sp)};
  std::vector<std::byte> stack(kUserStackBytes);
  for (const wire::MemoryPiece& piece : capture.pieces) {
    if (piece.why != wire::PieceKind::kUserStack || piece.address != sp) continue;
    if (piece.size != 0 && is_own) return std::vector<std::byte>();
    stack.resize(piece.requested);
  }
  RINGSIDE_ASSIGN(const auto process, memory.process_space({task.space[1]}));
  RINGSIDE_ASSIGN(const std::size_t size, process->read_up_to(sp, stack));
  stack.resize(size);
  RINGSIDE_ASSIGN(const bool stands, current_.is_still_in_kernel(capture, memory.kernel()));
  return stands ? stack : std::vector<std::byte>();
}

}  // namespace ringside::guestos
