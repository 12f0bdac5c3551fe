#include "guestos/linux/files/page_frames.h"

namespace ringside::guestos {
namespace {

Result<std::optional<GuestVirt>> first_by_variable(const elf::Image& kernel,
                                                   const KernelReader& read) {
  for (const char* name : {"vmemmap_base", "mem_map"}) {
    const auto variable = kernel.file->symbol_named(name);
    if (!variable) continue;
    RINGSIDE_ASSIGN(const GuestVirt first, read.pointer(kernel.to_guest(variable->address)));
    if (first.value != 0) return first;
  }
  return std::nullopt;
}

}  // namespace

Result<PageFrames> PageFrames::find(const LinuxTypes& types, const elf::Image& kernel,
                                    GuestSpace& memory, GuestVirt task_at) {
  const std::uint64_t size = types.page.struct_size;
  const KernelReader read(memory, types.arch);
  RINGSIDE_ASSIGN(const auto variable, first_by_variable(kernel, read));
  if (variable) return PageFrames(*variable, size, types.page_size);
  if (!types.task.stack_vm_area || !types.vm_pages)
    return fail(ErrorCode::kUnsupported,
                "where the kernel has its struct pages is not known (no vmemmap_base, no mem_map, "
                "no CONFIG_VMAP_STACK)");
  RINGSIDE_ASSIGN(const GuestVirt stack, read.pointer(task_at + types.task.stack.offset));
  RINGSIDE_ASSIGN(const GuestVirt area, read.pointer(task_at + types.task.stack_vm_area->offset));
  RINGSIDE_ASSIGN(const GuestVirt pages, read.pointer(area + types.vm_pages->offset));
  std::optional<GuestVirt> first;
  const std::uint64_t count = std::max<std::uint64_t>(types.thread_size / types.page_size, 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    RINGSIDE_ASSIGN(const GuestVirt page, read.pointer(pages + i * read.word_size()));
    RINGSIDE_ASSIGN(const auto place, memory.physical_address(stack + i * types.page_size));
    if (!place)
      return fail(ErrorCode::kUnreadable, "the stack at {} of the task at {} is not mapped", stack,
                  task_at);
    const GuestVirt found = page - place->value / types.page_size * size;
    if (first && found != *first)
      return fail(ErrorCode::kDisturbed,
                  "the struct pages of the stack of the task at {} do not lie in one array",
                  task_at);
    first = found;
  }
  return PageFrames(*first, size, types.page_size);
}

std::optional<GuestPhys> PageFrames::address_of(GuestVirt page) const {
  constexpr std::uint64_t kMostPages = std::uint64_t{1} << 40;
  const std::uint64_t offset = page - first_;
  if (struct_size_ == 0 || offset % struct_size_ != 0 || offset / struct_size_ > kMostPages)
    return std::nullopt;
  return GuestPhys{offset / struct_size_ * page_size_};
}

}  // namespace ringside::guestos
