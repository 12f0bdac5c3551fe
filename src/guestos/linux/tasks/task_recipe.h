#pragma once

#include <optional>

#include "guestos/linux/entry/entry_code.h"
#include "guestos/linux/tasks/user_stack_recipe.h"
#include "guestos/linux/types/linux_types.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

struct LinuxArch;

// The facts that a recipe about a vCPU's task is written from.
struct TaskSource {
  const LinuxTypes* types;
  const LinuxArch* linux_arch;
  const EntryCode* entry_code = nullptr;    // null: not known
  const UserTables* user_tables = nullptr;  // null: not known yet
  // The vCPU's own copy of the variable with its task, or, where a register says how far that is
  // away, the boot image's.
  std::optional<GuestVirt> variable;
  bool copies_program = false;
  bool copies_hooked_returns = false;
};

// Writes a recipe: it copies the vCPU's task and its address space (task_pieces.h), and the stack
// and the registers of the user code that it runs for.
void copy_task(wire::RecipeBuilder& recipe, const TaskSource& source, VcpuId vcpu);

}  // namespace ringside::guestos
