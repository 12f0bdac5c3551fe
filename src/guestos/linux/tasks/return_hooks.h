#pragma once

#include <vector>

#include "elf/image_map.h"
#include "guestos/linux/types/linux_types.h"
#include "unwind/return_hook.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// The hooks of Linux' tracers of returns: function_graph (kernel/trace/fgraph.c), rethook
// (kernel/trace/rethook.c) and kretprobes without it (kernel/kprobes.c). Each task has the records
// of its own functions. `types` may be null: then stacks end at the hooks.
[[nodiscard]] std::vector<unwind::ReturnHook> linux_return_hooks(const elf::Image& kernel,
                                                                 const LinuxTypes* types);

// Copies the records of a task for all hooks of its kernel, whether or not it has any.
void copy_hooked_returns(wire::RecipeBuilder& recipe, const LinuxTypes& types,
                         wire::RecipeBuilder::Slot task);

}  // namespace ringside::guestos
