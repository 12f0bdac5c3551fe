#include "wire/guest_capture.h"

#include "arch/arch_info.h"
#include "wire/walked_frames.h"

namespace ringside::wire {
void capture_of(const GuestSample& sample, VcpuId vcpu, Arch arch, Capture& capture) {
  const bool is_kernel = !sample.kernel.addresses.empty();
  const GuestFrames& top = is_kernel ? sample.kernel : sample.user;
  capture.vcpu = vcpu;
  capture.arch = arch;
  capture.level = PrivilegeLevel::kUnknown;
  capture.disposition = top.addresses.empty() ? Disposition::kIdle : Disposition::kSampled;
  capture.registers = {};
  capture.pieces.clear();
  capture.bytes.clear();
  if (top.addresses.empty()) return;
  capture.level = is_kernel ? PrivilegeLevel::kKernel : PrivilegeLevel::kUser;
  capture.registers.set(arch::roles_of(arch).pc, top.addresses.front());
  if (is_kernel) add_walked_frames(PieceKind::kKernelFrames, sample.kernel, capture);
  if (!sample.user.addresses.empty())
    add_walked_frames(PieceKind::kUserFrames, sample.user, capture);
}

// The address space, the ids of process and thread, the name.
void add_task(const GuestTask& task, Capture& capture) {
  const auto offset = static_cast<std::uint32_t>(capture.bytes.size());
  append(task.address_space, sizeof(task.address_space), capture.bytes);
  append(task.pid, sizeof(task.pid), capture.bytes);
  append(task.tid, sizeof(task.tid), capture.bytes);
  for (const char c : task.name) capture.bytes.push_back(static_cast<std::byte>(c));
  const auto size = static_cast<std::uint32_t>(capture.bytes.size()) - offset;
  capture.pieces.push_back(
      {.address = {}, .why = PieceKind::kTask, .requested = size, .offset = offset, .size = size});
}

std::optional<GuestTask> task_of(const Capture& capture) {
  constexpr std::size_t kIds = 16;
  for (const MemoryPiece& piece : capture.pieces) {
    if (piece.why != PieceKind::kTask || piece.size < kIds) continue;
    const Bytes bytes = capture.bytes_of(piece);
    GuestTask task;
    task.address_space = load<std::uint64_t>(bytes);
    task.pid = load<std::uint32_t>(bytes, 8);
    task.tid = load<std::uint32_t>(bytes, 12);
    const Bytes name = bytes.subspan(kIds);
    task.name = {reinterpret_cast<const char*>(name.data()), name.size()};
    return task;
  }
  return std::nullopt;
}

}  // namespace ringside::wire
