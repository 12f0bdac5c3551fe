#include <algorithm>

#include "base/testing/bytes_memory.h"
#include "guestos/linux/files/mappings.h"
#include "guestos/linux/files/page_cache_file.h"
#include "guestos/linux/files/path_lookup.h"
#include "guestos/linux/tasks/process_table.h"
#include "guestos/linux/tasks/user_names.h"

namespace {

using namespace ringside;
using namespace ringside::guestos;

constexpr std::uint64_t kStart = 0x10000;

// Small structures, so that short inputs reach all of them; testdata/structures_corpus has some.
LinuxTypes small_types(bool has_tree) {
  LinuxTypes types;
  types.arch = Arch::kX86_64;
  types.page_size = 4096;
  types.task.pid = {0, 4};
  types.task.tgid = {4, 4};
  types.task.comm = {8, 8};
  types.task.mm = {16, 8};
  types.mm.map_count = {8, 4};
  (has_tree ? types.mm.maple_root : types.mm.mmap) = Field{0, 8};
  types.mm.bytes = 16;
  types.mapping = {{0, 8}, {8, 8}, {16, 8}, {24, 8}, {32, 8}, {40, 8}, {48, 8}, {56, 8}, {}, 72};
  if (!has_tree) types.mapping.next = Field{64, 8};
  types.maple = {{0, 8}, {8, 120}, {128, 128}, {8, 72}, {80, 80}, {8, 248}, 256};
  types.special_mapping_name = {0, 8};
  types.file = {{0, 8}, {8, 8}, {16, 8}, {24, 8}, 32};
  types.dentry = {{0, 8}, {8, 8}, {16, 4}, {24, 8}, 32};
  types.mount = {{0, 8}, {8, 8}, {16, 8}, {16, 8}, 24};
  types.inode = {{0, 8}, {8, 8}, {16, 8}, {12, 4}, {}, {}, 24};
  types.super_block_device = {0, 4};
  types.page_cache_head = {0, 8};
  types.xarray = {{0, 1}, {8, 512}, 520};
  types.page = {{0, 8}, {8, 8}, {16, 8}, 24, 32, 1};
  return types;
}

ProcessFields small_fields() {
  ProcessFields fields;
  fields.flags = {32, 4};
  fields.state = {36, 4};
  fields.exit_state = {40, 4};
  fields.cpu = {44, 4};
  fields.tasks = {48, 16};
  fields.thread_node = {64, 16};
  fields.group_leader = {80, 8};
  fields.real_parent = {88, 8};
  fields.signal = {96, 8};
  fields.credentials = {104, 8};
  fields.kthread = Field{112, 8};
  fields.kthread_name = Field{0, 8};
  fields.task_bytes = 120;
  fields.threads = {0, 16};
  fields.terminal = {16, 8};
  fields.signal_bytes = 24;
  fields.user = {0, 4};
  fields.terminal_name = {0, 8};
  fields.resident = {16, 32};
  fields.resident_stride = 8;
  fields.mm_bytes = 48;
  return fields;
}

PathLookupFields small_path_fields() {
  PathLookupFields fields;
  fields.fs = {112, 8};
  fields.root_mount = {0, 8};
  fields.root_dentry = {8, 8};
  fields.fs_bytes = 16;
  fields.names = {{32, 8}, {40, 8}, 56};
  fields.inode = {48, 8};
  fields.mounts = {{24, 8}, {32, 8}, 40};
  fields.mode = {32, 2};
  fields.mapping = {24, 8};
  fields.inode_bytes = 34;
  return fields;
}

}  // namespace

// The input is the kernel's memory from 0x10000 up, where a task lies, behind a byte that chooses
// between a list of mappings and a tree.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  ringside::testing::BytesMemory physical(GuestPhys{0}, bytes);
  ringside::testing::BytesMemory kernel(GuestVirt{kStart}, bytes);
  const LinuxTypes types = small_types((data[0] & 1) != 0);
  const KernelReader read(kernel, types.arch);
  const PageFrames frames(GuestVirt{kStart}, types.page.struct_size, types.page_size);
  const auto threads = read_threads(types, small_fields(), read, GuestVirt{kStart});
  if (!threads) return 0;
  if (!threads->empty()) {
    const auto passwd =
        find_guest_file(types, small_path_fields(), read, threads->front().task, "/etc/passwd");
    if (passwd && *passwd && (*passwd)->identity.size <= kMaxPasswd) {
      const auto cached = read_cached_file(types, read, frames, physical, **passwd);
      if (cached) (void)parse_passwd(cached->bytes);
    }
  }
  unsigned files_left = 4;  // of those that may be large
  for (const GuestThread& thread : *threads) {
    const auto mappings = read_mappings(types, read, thread.space);
    if (!mappings) continue;
    for (const LinuxMapping& mapping : *mappings) {
      const auto file = read_guest_file(types, read, mapping.file);
      if (file && files_left-- > 0) (void)read_cached_file(types, read, frames, physical, *file);
      if (files_left == 0) return 0;
    }
  }
  return 0;
}
