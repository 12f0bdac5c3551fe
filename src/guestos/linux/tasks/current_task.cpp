#include "guestos/linux/tasks/current_task.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "guestos/linux/linux_arch.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

using enum wire::RecipeOpcode;

// What leads to the program follows the stack when that is not needed any more.
enum Slot : std::uint8_t {
  kTask,
  kVariable,
  kAt,
  kMm,
  kLevel,
  kStack,
  kSp,
  kSpFrom,
  kProgram = kStack
};
// In slot kSpFrom, in kernel mode: kSp is user code's, by the entry code that is running; or the
// stack has been copied.
enum SpFrom : std::uint64_t { kNowhere, kEntryCode, kCopied };

// Once the registers of user code are copied.
constexpr std::uint8_t kTable = kVariable;
constexpr EntryCode::Slots kEntrySlots{kSp, {kVariable, kAt, kLevel}};
constexpr UserStackSlots kWalkSlots{kSp, kTable, kAt, kLevel, kStack};
// Of PieceKind::kSystem: two of the task, its address space, in kernel mode user code's registers,
// and where its stack was found by a walk the page-table entry; then the program's, which are of
// other sizes.
constexpr std::size_t kRegistersPiece = 3;
constexpr std::size_t kEntryPiece = 4;
constexpr std::uint32_t kEntryBytes = 8;

constexpr auto kSystem = static_cast<std::uint8_t>(wire::PieceKind::kSystem);
constexpr auto kUserStack = static_cast<std::uint8_t>(wire::PieceKind::kUserStack);

using Ops = std::vector<wire::RecipeOp>;

// From the first of some members to the end of the last.
struct Window {
  std::uint32_t start = 0;
  std::uint32_t end = 0;
};

Window window_of(std::span<const Field> fields) {
  Window window{fields.front().offset, 0};
  for (const Field& field : fields) {
    window.start = std::min(window.start, field.offset);
    window.end = std::max(window.end, field.end());
  }
  return window;
}

Window window_of(std::initializer_list<Field> fields) {
  return window_of(std::span(fields.begin(), fields.size()));
}

void copy(Ops& ops, Slot from, const Window& window) {
  ops.push_back({kAdd, kAt, from, 0, 0, window.start});
  ops.push_back({kCopy, 0, kAt, kSystem, 0, window.end - window.start});
}

void append(Ops& ops, const Ops& more) { ops.insert(ops.end(), more.begin(), more.end()); }

std::uint32_t length(const Ops& ops) { return static_cast<std::uint32_t>(ops.size()); }

std::optional<std::uint64_t> read_field(const wire::Capture& capture, GuestVirt base,
                                        const Field& field) {
  if (field.size == 8) return capture.read<std::uint64_t>(base + field.offset);
  return capture.read<std::uint32_t>(base + field.offset);
}

std::string read_text(const wire::Capture& capture, GuestVirt at, std::size_t limit) {
  std::string text;
  while (text.size() < limit) {
    const auto c = capture.read<char>(at + text.size());
    if (!c || *c == 0) break;
    text.push_back(*c);
  }
  return text;
}

// The members that are copied, in the order of the pieces.
Window task_window(const TaskFields& task) { return window_of({task.mm, task.pid, task.tgid}); }
std::array<Field, 4> fields_of_space(const MmFields& mm) {
  return {mm.pgd, mm.exec_vm, mm.start_code, mm.start_stack};
}
// On i386 user code's pc may be in the vDSO without being said anywhere else.
bool needs_vdso(const LinuxTypes& types) { return types.arch == Arch::kI386 && types.mm.vdso; }
Window space_window(const LinuxTypes& types) {
  const auto fields = fields_of_space(types.mm);
  std::vector<Field> all(fields.begin(), fields.end());
  if (needs_vdso(types)) all.push_back(*types.mm.vdso);
  return window_of(all);
}

// Of struct inode, all of FileIdentity's but the generation, which lies far behind the rest.
Window inode_window(const InodeFields& inode) {
  std::vector<Field> fields{inode.number, inode.size, inode.super_block};
  if (inode.changed) fields.push_back(*inode.changed);
  if (inode.changed_ns) fields.push_back(*inode.changed_ns);
  return window_of(fields);
}

// Leads from an address space to the file that it was made for. In user mode and in the kernel: as
// long as a task runs in an address space that has the file, and all that is read here.
Ops program_ops(const LinuxTypes& types, std::uint8_t pointer) {
  Ops device;
  copy(device, kProgram, window_of({types.super_block_device}));
  Ops inode;
  copy(inode, kProgram, inode_window(types.inode));
  copy(inode, kProgram, window_of({types.inode.generation}));
  inode.push_back(
      {kLoad, kProgram, kProgram, pointer, length(device), types.inode.super_block.offset});
  append(inode, device);
  Ops ops{{kLoad, kProgram, kMm, pointer, length(inode) + 1, types.mm.exe_file.offset},
          {kLoad, kProgram, kProgram, pointer, length(inode), types.file.inode.offset}};
  append(ops, inode);
  return ops;
}

// From what program_ops() has copied, which are the last pieces. Each must be where the one before
// it leads to; nothing where one is missing or cut.
std::optional<FileIdentity> program_of(const LinuxTypes& types, const wire::Capture& capture,
                                       std::span<const wire::MemoryPiece* const> pieces) {
  if (pieces.size() < 3) return std::nullopt;
  const auto last = pieces.last(3);
  const GuestVirt inode = last[0]->address - inode_window(types.inode).start;
  if (last[1]->address != inode + types.inode.generation.offset) return std::nullopt;
  const auto super_block = read_field(capture, inode, types.inode.super_block);
  if (!super_block || last[2]->address != GuestVirt{*super_block} + types.super_block_device.offset)
    return std::nullopt;
  const auto device = read_field(capture, {*super_block}, types.super_block_device);
  const auto number = read_field(capture, inode, types.inode.number);
  const auto generation = read_field(capture, inode, types.inode.generation);
  const auto size = read_field(capture, inode, types.inode.size);
  if (!device || !number || !generation || !size) return std::nullopt;
  FileIdentity program{*device, *number, *generation, *size};
  const std::array<std::pair<std::optional<Field>, std::uint64_t*>, 2> times{
      {{types.inode.changed, &program.changed}, {types.inode.changed_ns, &program.changed_ns}}};
  for (const auto& [field, into] : times) {
    if (!field) continue;
    const auto value = read_field(capture, inode, *field);
    if (!value) return std::nullopt;
    *into = *value;
  }
  return program;
}

// `then` where the kernel runs (or, with `kernel` false, where user code runs).
Ops in_mode(Arch arch, bool kernel, const Ops& then) {
  const arch::UserMode& test = arch::info_of(arch).user_mode;
  Ops ops = {{kRegister, kLevel, test.reg, 0, length(then) + 2, 0},
             {kMask, kLevel, kLevel, 0, 0, test.mask},
             {kernel ? kSkipIfEqual : kSkipIfNotEqual, 0, kLevel, 0, length(then), test.value}};
  append(ops, then);
  return ops;
}

std::vector<const wire::MemoryPiece*> system_pieces(const wire::Capture& capture) {
  std::vector<const wire::MemoryPiece*> pieces;
  for (const wire::MemoryPiece& piece : capture.pieces)
    if (piece.why == wire::PieceKind::kSystem) pieces.push_back(&piece);
  return pieces;
}

}  // namespace

Result<TaskView> read_task(const LinuxTypes& types, const KernelReader& read, GuestVirt task) {
  const std::uint32_t end = std::max(task_window(types.task).end, types.task.comm.end());
  RINGSIDE_ASSIGN(const KernelObject object, read.object(task, end, "struct task_struct"));
  TaskView view;
  view.task = task;
  view.tid = static_cast<std::uint32_t>(object.number(types.task.pid));
  view.pid = static_cast<std::uint32_t>(object.number(types.task.tgid));
  view.comm = object.text(types.task.comm);
  view.space[0] = object.number(types.task.mm);
  if (view.is_kernel_thread()) return view;
  RINGSIDE_ASSIGN(const KernelObject mm,
                  read.object({view.space[0]}, space_window(types).end, "struct mm_struct"));
  const auto fields = fields_of_space(types.mm);
  for (std::size_t i = 0; i < fields.size(); ++i) view.space[i + 1] = mm.number(fields[i]);
  return view;
}

Result<CurrentTask> CurrentTask::of(const elf::Image& kernel, const TypeSource& source,
                                    bool copies_program) {
  RINGSIDE_ASSIGN(const LinuxTypes types, LinuxTypes::of(*kernel.file, source));
  const LinuxArch* const linux_arch = find_linux_arch(kernel.file->arch());
  if (linux_arch == nullptr)
    return fail(ErrorCode::kUnsupported, "{}: an architecture that is not known",
                kernel.file->name());
  const auto variable = linux_arch->current_task(*kernel.file, source);
  const auto reg = linux_arch->current_register;
  if (!variable && !reg)
    return fail(ErrorCode::kNotFound, "{}: the variable with the current task is not known",
                kernel.file->name());
  CurrentTask task(types, *linux_arch, EntryCode::of(kernel, types.user_registers, source),
                   variable, copies_program);
  if (variable) task.variable_at_ = kernel.to_guest(*variable);
  return task;
}

Result<bool> CurrentTask::find(std::size_t cpu, const PerCpu& per_cpu,
                               const elf::GuestReader& read) {
  if (entry_code_) {
    RINGSIDE_ASSIGN(const bool found, entry_code_->find(cpu, per_cpu, read));
    if (!found) return false;
  }
  if (!variable_ || linux_arch_->per_cpu_offset) return true;
  if (slots_.size() <= cpu) slots_.resize(cpu + 1);
  RINGSIDE_ASSIGN(slots_[cpu], per_cpu.copy_of(*variable_, cpu, read));
  return slots_[cpu].has_value();
}

Ops CurrentTask::find_task(VcpuId vcpu, std::uint32_t skip) const {
  const std::uint8_t pointer = arch::roles_of(types_.arch).pointer_size;
  Ops by_variable;
  if (vcpu.value < slots_.size() && slots_[vcpu.value])
    by_variable = {{kSet, kVariable, 0, 0, 0, slots_[vcpu.value]->value},
                   {kLoad, kTask, kVariable, pointer, skip, 0}};
  else if (const auto offset = linux_arch_->per_cpu_offset; offset && variable_)
    by_variable = {{kRegister, kVariable, *offset, 0, skip + 1, 0},
                   {kLoad, kTask, kVariable, pointer, skip, variable_at_.value}};
  else
    by_variable = {{kSkipIfNotLess, 0, kTask, 0, skip, 0}};  // always
  if (!linux_arch_->current_register) return by_variable;
  // Entry code's first instructions still have the user's value.
  constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
  Ops ops = in_mode(types_.arch, true,
                    {{kRegister, kTask, *linux_arch_->current_register, 0, 1, 0},
                     {kSkipIfNotLess, 0, kTask, 0, length(by_variable), kKernelHalf}});
  append(ops, by_variable);
  return ops;
}

Ops CurrentTask::copy_user_stack() const {
  if (!user_tables_) return {{kCopyStack, 0, kSp, kUserStack, 0, 0}};
  const Ops walk = user_stack_recipe(*user_tables_, types_.arch, kWalkSlots);
  Ops ops = {{kLoad, kTable, kMm, arch::roles_of(types_.arch).pointer_size, length(walk),
              types_.mm.pgd.offset}};
  append(ops, walk);
  return ops;
}

void CurrentTask::add_to(Ops& recipe, VcpuId vcpu) const {
  const arch::RegisterRoles roles = arch::roles_of(types_.arch);
  const std::uint8_t pointer = roles.pointer_size;
  const std::uint64_t to_registers = types_.thread_size - types_.user_registers.below_stack_end;
  const auto sp_offset = static_cast<std::uint64_t>(types_.user_registers.frame.offsets[roles.sp]);

  // In kernel mode, of a thread that has user code: its registers, and the stack they point to.
  Ops stack = copy_user_stack();
  stack.push_back({kSet, kSpFrom, 0, 0, 0, kCopied});
  Ops sp = {{kLoad, kSp, kAt, pointer, 0, sp_offset}};
  if (types_.arch == Arch::kI386) {  // `sysenter` leaves it in ebp, and C code puts it in its place
    const auto kept = types_.user_registers.frame.offsets[roles.fp];
    sp.push_back({kSkipIfNotEqual, 0, kSp, 0, 1, 0});
    sp.push_back({kLoad, kSp, kAt, pointer, 0, static_cast<std::uint64_t>(kept)});
  }
  sp.front().skip = length(sp) - 1 + length(stack);
  Ops entered = {
      {kLoad, kStack, kTask, pointer, length(sp) + length(stack) + 3, types_.task.stack.offset},
      {kAdd, kAt, kStack, 0, 0, to_registers},
      {kCopy, 0, kAt, kSystem, 0, types_.user_registers.size},
      {kSkipIfEqual, 0, kSpFrom, 0, length(sp), kEntryCode}};
  append(entered, sp);
  append(entered, stack);
  Ops of_user;
  copy(of_user, kMm, space_window(types_));
  append(of_user, in_mode(types_.arch, true, entered));
  if (copies_program_) append(of_user, program_ops(types_, pointer));

  Ops task;
  copy(task, kTask, task_window(types_.task));
  copy(task, kTask, window_of({types_.task.comm}));
  task.push_back({kLoad, kMm, kTask, pointer, length(of_user) + 1, types_.task.mm.offset});
  task.push_back({kSkipIfEqual, 0, kMm, 0, length(of_user), 0});
  append(task, of_user);

  if (entry_code_) {
    Ops in_entry_code = entry_code_->find_user_stack(vcpu, kEntrySlots, 1);
    in_entry_code.push_back({kSet, kSpFrom, 0, 0, 0, kEntryCode});
    append(recipe, in_mode(types_.arch, true, in_entry_code));
  }
  append(recipe, find_task(vcpu, length(task)));
  append(recipe, task);
  // Where the task cannot be read the page tables are user code's.
  append(recipe,
         {{kSkipIfNotEqual, 0, kSpFrom, 0, 1, kEntryCode}, {kCopyStack, 0, kSp, kUserStack, 0, 0}});
  append(recipe,
         in_mode(types_.arch, false,
                 {{kRegister, kSp, roles.sp, 0, 1, 0}, {kCopyStack, 0, kSp, kUserStack, 0, 0}}));
}

std::optional<arch::Registers> CurrentTask::user_registers(const wire::Capture& capture,
                                                           const EntryCode::Copied& copied) const {
  if (entry_code_ == nullptr) return std::nullopt;
  const auto registers = entry_code_->user_registers(capture, copied);
  const arch::ArchInfo* platform = arch::find_info(types_.arch);
  if (!registers || !registers->has(platform->saved_mode.reg) ||
      !platform->saved_mode.is_user(registers->get(platform->saved_mode.reg)))
    return std::nullopt;
  if (registers->get(platform->roles.pc) == 0 && !entry_code_->landing_pad()) return std::nullopt;
  return registers;
}

Result<void> CurrentTask::find_user_pc(TaskView& task, GuestMemory& memory) const {
  const std::uint8_t pc = arch::roles_of(types_.arch).pc;
  if (!task.user || task.user->get(pc) != 0) return {};
  const auto landing_pad = entry_code_->landing_pad();
  std::optional<std::uint64_t> place;
  if (landing_pad && types_.mm.vdso && !task.is_kernel_thread()) {
    const auto vdso = KernelReader(memory, types_.arch)
                          .pointer(GuestVirt{task.space[0]} + types_.mm.vdso->offset);
    if (!vdso && !is_of_memory(vdso.error().code)) return tl::unexpected<Error>(vdso.error());
    if (vdso && vdso->value != 0) place = vdso->value + *landing_pad;
  }
  if (place)
    task.user->set(pc, *place);
  else
    task.user.reset();
  return {};
}

std::optional<GuestVirt> CurrentTask::vdso_of(const wire::Capture& capture, GuestVirt mm) const {
  const auto at = needs_vdso(types_) ? read_field(capture, mm, *types_.mm.vdso) : std::nullopt;
  return at ? std::optional(GuestVirt{*at}) : std::nullopt;
}

std::optional<TaskView> CurrentTask::read(const wire::Capture& capture) const {
  if (capture.arch != types_.arch) return std::nullopt;
  const auto pieces = system_pieces(capture);
  if (pieces.empty()) return std::nullopt;
  TaskView view;
  view.task = pieces[0]->address - task_window(types_.task).start;
  const auto tid = read_field(capture, view.task, types_.task.pid);
  const auto pid = read_field(capture, view.task, types_.task.tgid);
  const auto mm = read_field(capture, view.task, types_.task.mm);
  if (!tid || !pid || !mm) return std::nullopt;
  view.tid = static_cast<std::uint32_t>(*tid);
  view.pid = static_cast<std::uint32_t>(*pid);
  view.comm = read_text(capture, view.task + types_.task.comm.offset, types_.task.comm.size);
  view.space[0] = *mm;
  if (*mm == 0) return view;
  const auto fields = fields_of_space(types_.mm);
  for (std::size_t i = 0; i < fields.size(); ++i)
    view.space[i + 1] = read_field(capture, {*mm}, fields[i]).value_or(0);
  if (capture.level == PrivilegeLevel::kKernel && has_registers(pieces) && !view.is_in_exec()) {
    const wire::MemoryPiece* const saved = pieces[kRegistersPiece];
    view.user = user_registers(capture, {saved, vdso_of(capture, {*mm})});
    const GuestVirt end = saved->address + types_.user_registers.below_stack_end;
    view.kernel_stack = KernelStack{end - types_.thread_size, types_.thread_size};
  }
  if (copies_program_) view.program = program_of(types_, capture, pieces);
  return view;
}

bool CurrentTask::has_registers(std::span<const wire::MemoryPiece* const> pieces) const {
  return pieces.size() > kRegistersPiece &&
         pieces[kRegistersPiece]->requested == types_.user_registers.size;
}

bool CurrentTask::has_walked(const wire::Capture& capture) const {
  const auto pieces = system_pieces(capture);
  return has_registers(pieces) && pieces.size() > kEntryPiece &&
         pieces[kEntryPiece]->requested == kEntryBytes;
}

Result<bool> CurrentTask::is_still_in_kernel(const wire::Capture& capture,
                                             GuestMemory& memory) const {
  for (const wire::MemoryPiece& piece : capture.pieces) {
    if (piece.why != wire::PieceKind::kSystem || piece.size != types_.user_registers.size) continue;
    std::vector<std::byte> now(piece.size);
    RINGSIDE_ASSIGN(const std::size_t size, memory.read_kernel(piece.address, now));
    const Bytes then = capture.bytes_of(piece);
    if (size == now.size() && std::equal(now.begin(), now.end(), then.begin())) return true;
  }
  return false;
}

}  // namespace ringside::guestos
