#include "guestos/linux/tasks/current_task.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "guestos/linux/linux_arch.h"
#include "guestos/linux/tasks/task_pieces.h"
#include "guestos/linux/tasks/task_recipe.h"

namespace ringside::guestos {

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

Result<bool> CurrentTask::find(std::size_t cpu, const PerCpu& per_cpu, VirtualMemory& memory) {
  if (entry_code_) {
    RINGSIDE_ASSIGN(const bool found, entry_code_->find(cpu, per_cpu, memory));
    if (!found) return false;
  }
  if (!variable_ || linux_arch_->per_cpu_offset) return true;
  if (slots_.size() <= cpu) slots_.resize(cpu + 1);
  RINGSIDE_ASSIGN(slots_[cpu], per_cpu.copy_of(*variable_, cpu, memory));
  return slots_[cpu].has_value();
}

void CurrentTask::copy(wire::RecipeBuilder& recipe, VcpuId vcpu, bool hooked_returns) const {
  TaskSource source{.types = &types_,
                    .linux_arch = linux_arch_,
                    .entry_code = entry_code_.get(),
                    .user_tables = user_tables_ ? &*user_tables_ : nullptr,
                    .variable = slot_of(vcpu),
                    .copies_program = copies_program_,
                    .copies_hooked_returns = hooked_returns};
  if (linux_arch_->per_cpu_offset && variable_) source.variable = variable_at_;
  copy_task(recipe, source, vcpu);
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

Result<void> CurrentTask::find_user_pc(TaskView& task, GuestSpace& kernel) const {
  const std::uint8_t pc = arch::roles_of(types_.arch).pc;
  if (!task.user || task.user->get(pc) != 0) return {};
  const auto landing_pad = entry_code_->landing_pad();
  std::optional<std::uint64_t> place;
  if (landing_pad && types_.mm.vdso && !task.is_kernel_thread()) {
    const auto vdso = KernelReader(kernel, types_.arch)
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

std::optional<TaskView> CurrentTask::read(const wire::Capture& capture) const {
  auto view = copied_task(types_, capture);
  if (!view || view->is_kernel_thread()) return view;
  const wire::MemoryPiece* const saved = capture.tagged(kUserRegistersTag);
  if (capture.level == PrivilegeLevel::kKernel && saved != nullptr && !view->is_in_exec()) {
    const GuestVirt mm{view->space[0]};
    view->user = user_registers(capture, {saved, copied_vdso(types_, capture, mm)});
    const GuestVirt end = saved->address + types_.user_registers.below_stack_end;
    view->kernel_stack = KernelStack{end - types_.thread_size, types_.thread_size};
  }
  return view;
}

std::optional<GuestVirt> CurrentTask::variable_of(const wire::Capture& capture) const {
  const auto offset = linux_arch_->per_cpu_offset;
  if (!offset || !variable_) return slot_of(capture.vcpu);
  if (!capture.registers.has(*offset)) return std::nullopt;
  return variable_at_ + capture.registers.get(*offset);
}

std::optional<GuestVirt> CurrentTask::in_register(const wire::Capture& capture) const {
  constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
  const auto reg = linux_arch_->current_register;
  const bool is_kernels = capture.level == PrivilegeLevel::kKernel && capture.arch == types_.arch;
  if (!is_kernels || !reg || !capture.registers.has(*reg)) return std::nullopt;
  const GuestVirt task{capture.registers.get(*reg)};
  return task.value >= kKernelHalf ? std::optional(task) : std::nullopt;
}

Result<void> CurrentTask::find_saved(TaskView& task, const wire::Capture& capture,
                                     GuestSpace& kernel) const {
  if (task.is_kernel_thread() || task.is_in_exec()) return {};
  const auto stack =
      KernelReader(kernel, types_.arch).pointer(task.task + types_.task.stack.offset);
  if (!stack && !is_of_memory(stack.error().code)) return tl::unexpected<Error>(stack.error());
  if (!stack) return {};
  const GuestVirt saved = *stack + (types_.thread_size - types_.user_registers.below_stack_end);
  const auto size = static_cast<std::uint32_t>(types_.user_registers.size);
  for (const wire::MemoryPiece& piece : capture.pieces) {
    const bool has_saved = piece.size >= size && saved - piece.address <= piece.size - size;
    if (!has_saved || piece.why == wire::PieceKind::kUserStack) continue;
    wire::MemoryPiece part = piece;
    part.offset += static_cast<std::uint32_t>(saved - piece.address);
    part.address = saved;
    part.requested = part.size = size;
    task.user = user_registers(capture, {&part, std::nullopt});
    task.kernel_stack = KernelStack{*stack, types_.thread_size};
    return {};
  }
  return {};
}

bool CurrentTask::has_walked(const wire::Capture& capture) const {
  return capture.tagged(kUserRegistersTag) != nullptr && capture.tagged(kStackEntryTag) != nullptr;
}

Result<bool> CurrentTask::is_still_in_kernel(const wire::Capture& capture,
                                             GuestSpace& kernel) const {
  const wire::MemoryPiece* const saved = capture.tagged(kUserRegistersTag);
  if (saved == nullptr || saved->size != types_.user_registers.size) return false;
  std::vector<std::byte> now(saved->size);
  RINGSIDE_ASSIGN(const std::size_t size, kernel.read_up_to(saved->address, now));
  const Bytes then = capture.bytes_of(*saved);
  return size == now.size() && std::equal(now.begin(), now.end(), then.begin());
}

}  // namespace ringside::guestos
