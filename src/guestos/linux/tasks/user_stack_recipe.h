#pragma once

#include <cstdint>

#include "guestos/linux/tasks/task_pieces.h"
#include "memory/table_shape.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// The page tables of every process, as a recipe walks them: with its loads from the kernel's
// addresses, for the kernel maps all physical memory in a row (the linear map).
struct UserTables {
  memory::TableShape shape;
  std::uint64_t to_linear = 0;  // added to a physical address: where the kernel maps it

  bool operator==(const UserTables&) const = default;
};

struct UserStack {
  wire::RecipeBuilder::Slot sp;     // user code's stack pointer; changed by the walk
  wire::RecipeBuilder::Slot table;  // the address of the task's page-table root (mm_struct::pgd);
                                    // changed, too
};

// Limit on the pages that a walk copies; most often a part of the first is enough.
inline constexpr unsigned kMaxStackPages = 4;

// Copies a user stack from the kernel's mode (PieceKind::kUserStack), where user addresses may not
// be read: aarch64 with PSTATE.PAN, riscv64 without sstatus.SUM; or another process's page tables
// are loaded, for the vCPU is switching to that. Where the task's own are, and the stack can be
// read, it is copied as it is. Otherwise its pages are found by a walk and copied from the linear
// map, up to kMaxStackPages of those that follow each other in one table; before them the entry of
// the first one is copied (kStackEntryTag), which says that the stack is surely the task's. Ends at
// `end`, or in front of it.
//
// The walk goes by the shape that the processor has, not by what it would make of a damaged entry:
// that may lead to wrong bytes, as the stack itself may hold.
void copy_user_stack(wire::RecipeBuilder& recipe, const UserTables& tables, Arch arch,
                     const UserStack& stack, wire::RecipeBuilder::Label end);

}  // namespace ringside::guestos
