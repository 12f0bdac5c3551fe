#include "guestos/linux/tasks/task_view.h"

#include <algorithm>
#include <cstring>

#include "guestos/linux/tasks/task_layout.h"
#include "guestos/linux/tasks/task_pieces.h"

namespace ringside::guestos {
namespace {

std::optional<std::uint64_t> read_field(const wire::Capture& capture, GuestVirt base,
                                        const Field& field) {
  if (field.size == 8) return capture.read<std::uint64_t>(base + field.offset);
  return capture.read<std::uint32_t>(base + field.offset);
}

std::string read_text(const wire::Capture& capture, GuestVirt at, std::size_t limit) {
  for (const wire::MemoryPiece& piece : capture.pieces) {
    const std::uint64_t offset = at - piece.address;
    if (!piece.is_memory() || offset >= piece.size) continue;
    const Bytes copied = capture.bytes_of(piece).subspan(offset);
    const auto* const start = reinterpret_cast<const char*>(copied.data());
    return {start, strnlen(start, std::min(limit, copied.size()))};
  }
  return {};
}

// The superblock must be the one that the copy of the inode leads to; nothing where a piece is
// missing or cut.
std::optional<FileIdentity> program_of(const LinuxTypes& types, const wire::Capture& capture) {
  const wire::MemoryPiece* const copied = capture.tagged(kInodeTag);
  const wire::MemoryPiece* const of_device = capture.tagged(kInodeDeviceTag);
  if (copied == nullptr || of_device == nullptr) return std::nullopt;
  const GuestVirt inode = copied->address - inode_window(types.inode).start;
  const auto super_block = read_field(capture, inode, types.inode.super_block);
  if (!super_block ||
      of_device->address != GuestVirt{*super_block} + types.super_block_device.offset)
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

std::optional<TaskView> copied_task(const LinuxTypes& types, const wire::Capture& capture) {
  const wire::MemoryPiece* const copied = capture.tagged(kTaskTag);
  if (capture.arch != types.arch || copied == nullptr) return std::nullopt;
  TaskView view;
  view.task = copied->address - task_window(types.task).start;
  const auto tid = read_field(capture, view.task, types.task.pid);
  const auto pid = read_field(capture, view.task, types.task.tgid);
  const auto mm = read_field(capture, view.task, types.task.mm);
  if (!tid || !pid || !mm) return std::nullopt;
  view.tid = static_cast<std::uint32_t>(*tid);
  view.pid = static_cast<std::uint32_t>(*pid);
  view.comm = read_text(capture, view.task + types.task.comm.offset, types.task.comm.size);
  view.space[0] = *mm;
  if (*mm == 0) return view;
  const auto fields = fields_of_space(types.mm);
  for (std::size_t i = 0; i < fields.size(); ++i)
    view.space[i + 1] = read_field(capture, {*mm}, fields[i]).value_or(0);
  view.program = program_of(types, capture);
  return view;
}

std::optional<GuestVirt> copied_vdso(const LinuxTypes& types, const wire::Capture& capture,
                                     GuestVirt mm) {
  const auto at = needs_vdso(types) ? read_field(capture, mm, *types.mm.vdso) : std::nullopt;
  return at ? std::optional(GuestVirt{*at}) : std::nullopt;
}

}  // namespace ringside::guestos
