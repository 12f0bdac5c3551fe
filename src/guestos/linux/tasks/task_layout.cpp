#include "guestos/linux/tasks/task_layout.h"

#include <algorithm>
#include <span>
#include <vector>

namespace ringside::guestos {
namespace {

Window window_over(std::span<const Field> fields) {
  Window window{fields.front().offset, 0};
  for (const Field& field : fields) {
    window.start = std::min(window.start, field.offset);
    window.end = std::max(window.end, field.end());
  }
  return window;
}

}  // namespace

Window task_window(const TaskFields& task) {
  const std::array fields{task.mm, task.pid, task.tgid};
  return window_over(fields);
}

std::array<Field, 4> fields_of_space(const MmFields& mm) {
  return {mm.pgd, mm.exec_vm, mm.start_code, mm.start_stack};
}

bool needs_vdso(const LinuxTypes& types) { return types.arch == Arch::kI386 && types.mm.vdso; }

Window space_window(const LinuxTypes& types) {
  const auto fields = fields_of_space(types.mm);
  std::vector<Field> all(fields.begin(), fields.end());
  if (needs_vdso(types)) all.push_back(*types.mm.vdso);
  return window_over(all);
}

Window inode_window(const InodeFields& inode) {
  std::vector<Field> fields{inode.number, inode.size, inode.super_block};
  if (inode.changed) fields.push_back(*inode.changed);
  if (inode.changed_ns) fields.push_back(*inode.changed_ns);
  return window_over(fields);
}

}  // namespace ringside::guestos
