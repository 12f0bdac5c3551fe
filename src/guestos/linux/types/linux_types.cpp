#include "guestos/linux/types/linux_types.h"

#include "guestos/linux/entry/page_size.h"
#include "guestos/linux/entry/stack_size.h"
#include "guestos/linux/entry/user_registers.h"
#include "guestos/linux/types/field_finder.h"

namespace ringside::guestos {
namespace {

TaskFields find_task(FieldFinder& find) {
  StructFinder task(find, "task_struct");
  TaskFields fields;
  fields.pid = task.need("pid");
  fields.tgid = task.need("tgid");
  fields.comm = task.need("comm");
  fields.mm = task.need("mm");
  fields.active_mm = task.need("active_mm");
  fields.stack = task.need("stack");
  fields.flags = task.need("flags");
  fields.start_time = task.need("start_time");
  fields.bytes = task.extent();
  fields.stack_vm_area = task.maybe("stack_vm_area");
  return fields;
}

std::optional<GraphTracerFields> find_graph_tracer(const FieldFinder& find) {
  constexpr const char* kRecord = "ftrace_ret_stack";
  const auto newest = find.maybe("task_struct", {"curr_ret_stack"});
  const auto records = find.maybe("task_struct", {"ret_stack"});
  const auto address = find.maybe(kRecord, {"ret"});
  const auto bytes = find.types().size_of(kRecord);
  if (!newest || !records || !address || !bytes) return std::nullopt;
  return GraphTracerFields{.newest = *newest,
                           .records = *records,
                           .record = {.address = *address,
                                      .function = find.maybe(kRecord, {"func"}),
                                      .frame = find.maybe(kRecord, {"fp"}),
                                      .slot = find.maybe(kRecord, {"retp"}),
                                      .bytes = *bytes},
                           // Several tracers share one since Linux 6.11.
                           .is_shadow_stack = find.maybe("fgraph_ops", {"idx"}).has_value()};
}

std::optional<ReturnProbeFields> find_return_probes(const FieldFinder& find, const char* list,
                                                    const char* record, const char* frame) {
  const auto first = find.maybe("task_struct", {list});
  const auto node = find.maybe(record, {"llist"});
  const auto address = find.maybe(record, {"ret_addr"});
  if (!first || !node || !address) return std::nullopt;
  return ReturnProbeFields{.first = *first,
                           .node = *node,
                           .record = {.address = *address, .frame = find.maybe(record, {frame})}};
}

ReturnTracerFields find_tracers(const FieldFinder& find) {
  return {.graph = find_graph_tracer(find),
          .rethook = find_return_probes(find, "rethooks.first", "rethook_node", "frame"),
          .kretprobe =
              find_return_probes(find, "kretprobe_instances.first", "kretprobe_instance", "fp")};
}

MmFields find_mm(FieldFinder& find) {
  StructFinder mm(find, "mm_struct");
  MmFields fields;
  fields.pgd = mm.need("pgd");
  fields.map_count = mm.need("map_count");
  fields.exec_vm = mm.need("exec_vm");
  fields.start_code = mm.need("start_code");
  fields.start_stack = mm.need("start_stack");
  fields.exe_file = mm.need("exe_file");
  fields.maple_root = mm.maybe("mm_mt.ma_root");
  if (!fields.maple_root) fields.mmap = mm.need("mmap");
  fields.bytes = mm.extent();
  fields.vdso = mm.maybe("context.vdso");
  fields.vdso_image = mm.maybe("context.vdso_image");
  return fields;
}

std::optional<VdsoImageFields> find_vdso_image(FieldFinder& find) {
  StructFinder image(find, "vdso_image");
  const auto data = image.maybe("data");
  const auto size = image.maybe("size");
  if (!data || !size) return std::nullopt;
  return VdsoImageFields{*data, *size, image.extent()};
}

MappingFields find_mapping(FieldFinder& find, bool is_in_list) {
  StructFinder vma(find, "vm_area_struct");
  MappingFields fields;
  fields.start = vma.need("vm_start");
  fields.end = vma.need("vm_end");
  fields.mm = vma.need("vm_mm");
  fields.flags = vma.need("vm_flags");
  fields.ops = vma.need("vm_ops");
  fields.page_offset = vma.need("vm_pgoff");
  fields.file = vma.need("vm_file");
  fields.private_data = vma.need("vm_private_data");
  if (is_in_list) fields.next = vma.need("vm_next");
  fields.bytes = vma.extent();
  return fields;
}

FileFields find_file(FieldFinder& find) {
  StructFinder file(find, "file");
  FileFields fields;
  fields.vfsmount = file.need("f_path.mnt");
  fields.dentry = file.need("f_path.dentry");
  fields.inode = file.need("f_inode");
  fields.mapping = file.need("f_mapping");
  fields.bytes = file.extent();
  return fields;
}

DentryFields find_dentry(FieldFinder& find) {
  StructFinder dentry(find, "dentry");
  DentryFields fields;
  fields.parent = dentry.need("d_parent");
  fields.name = dentry.need("d_name.name");
  fields.name_length = dentry.need("d_name.len");
  fields.hashed_by = dentry.need("d_hash.pprev");
  fields.bytes = dentry.extent();
  return fields;
}

MountFields find_mount(FieldFinder& find) {
  StructFinder mount(find, "mount");
  MountFields fields;
  fields.parent = mount.need("mnt_parent");
  fields.mountpoint = mount.need("mnt_mountpoint");
  fields.vfsmount = mount.need("mnt");
  fields.root = mount.need("mnt.mnt_root");
  fields.bytes = mount.extent();
  return fields;
}

InodeFields find_inode(FieldFinder& find) {
  StructFinder inode(find, "inode");
  InodeFields fields;
  fields.number = inode.need("i_ino");
  fields.size = inode.need("i_size");
  fields.super_block = inode.need("i_sb");
  fields.generation = inode.need("i_generation");
  // Renamed in 6.6 and 6.11.
  fields.changed = inode.maybe("i_ctime_sec", "__i_ctime.tv_sec", "i_ctime.tv_sec");
  fields.changed_ns = inode.maybe("i_ctime_nsec", "__i_ctime.tv_nsec", "i_ctime.tv_nsec");
  fields.bytes = inode.extent();
  return fields;
}

PageFields find_page(FieldFinder& find) {
  const bool has_folios = find.types().size_of("folio").has_value();
  StructFinder page(find, has_folios ? "folio" : "page");
  PageFields fields;
  fields.flags = page.need("flags");
  fields.mapping = page.need("mapping");
  fields.index = page.need("index");
  fields.bytes = page.extent();
  fields.struct_size = find.need_size("page");
  fields.uptodate_mask = std::uint64_t{1} << (find.need_enumerator("PG_uptodate") & 63);
  return fields;
}

}  // namespace

Result<LinuxTypes> LinuxTypes::of(const elf::ElfFile& kernel, const TypeSource& source) {
  FieldFinder find(source);
  LinuxTypes types;
  types.arch = kernel.arch();
  types.task = find_task(find);
  types.mm = find_mm(find);
  if (types.mm.vdso_image) types.vdso_image = find_vdso_image(find);
  types.mapping = find_mapping(find, types.mm.mmap.has_value());
  if (types.mm.maple_root) types.maple = MapleFields::find(find);
  types.special_mapping_name = find.need("vm_special_mapping", {"name"});
  types.file = find_file(find);
  types.dentry = find_dentry(find);
  types.mount = find_mount(find);
  types.inode = find_inode(find);
  types.super_block_device = find.need("super_block", {"s_dev"});
  types.page_cache_head = find.need("address_space", {"i_pages.xa_head"});
  types.xarray = XarrayFields::find(find);
  types.page = find_page(find);
  if (types.task.stack_vm_area) types.vm_pages = find.need("vm_struct", {"pages"});
  types.page_size = kernel_page_size(kernel);
  types.user_registers = find_user_registers(kernel, find);
  types.tracers = find_tracers(find);
  RINGSIDE_TRY(find.result(kernel.name()));
  const auto stack_size = kernel_stack_size(kernel);
  if (!stack_size)
    return fail(ErrorCode::kNotFound,
                "{}: the size of a kernel stack is not known (no symbols __start_init_task, "
                "__end_init_task)",
                kernel.name());
  types.thread_size = *stack_size;
  return types;
}

}  // namespace ringside::guestos
