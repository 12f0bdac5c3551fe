#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "elf/elf_file.h"
#include "guestos/linux/types/maple_tree.h"
#include "guestos/linux/types/type_source.h"
#include "guestos/linux/types/xarray.h"
#include "unwind/trap_frame_layout.h"

namespace ringside::guestos {

// In each struct `bytes` is the size to read from the structure's start for all members that are
// named.

// struct task_struct, include/linux/sched.h.
struct TaskFields {
  Field pid;   // the thread
  Field tgid;  // the process
  Field comm;
  Field mm;  // null in kernel threads
  Field active_mm;
  Field stack;  // lowest address of the kernel stack
  Field flags;  // PF_*
  Field start_time;
  // struct vm_struct of the stack; only with CONFIG_VMAP_STACK.
  std::optional<Field> stack_vm_area;
  std::uint32_t bytes = 0;
};

// struct mm_struct, include/linux/mm_types.h.
struct MmFields {
  Field pgd;
  Field map_count;
  Field exec_vm;  // pages
  Field start_code;
  Field start_stack;
  Field exe_file;
  std::optional<Field> maple_root;  // Linux 6.1 and later
  std::optional<Field> mmap;        // before: the first struct vm_area_struct
  std::optional<Field> vdso;        // where the process has it
  std::optional<Field> vdso_image;  // x86: the kernel's struct vdso_image
  std::uint32_t bytes = 0;
};

// struct vdso_image, arch/x86/include/asm/vdso.h: the vDSO in the kernel's memory.
struct VdsoImageFields {
  Field data;
  Field size;
  std::uint32_t bytes = 0;
};

// struct vm_area_struct, include/linux/mm_types.h.
struct MappingFields {
  Field start;
  Field end;
  Field mm;
  Field flags;
  Field ops;
  Field page_offset;
  Field file;
  Field private_data;
  std::optional<Field> next;  // before Linux 6.1
  std::uint32_t bytes = 0;
};

// struct file, include/linux/fs.h.
struct FileFields {
  Field vfsmount;  // f_path.mnt
  Field dentry;    // f_path.dentry
  Field inode;
  Field mapping;  // struct address_space, whose pages are the file's
  std::uint32_t bytes = 0;
};

// struct dentry, include/linux/dcache.h.
struct DentryFields {
  Field parent;  // itself in a root
  Field name;
  Field name_length;
  Field hashed_by;  // d_hash.pprev: null when the name was unlinked
  std::uint32_t bytes = 0;
};

// struct mount, fs/mount.h.
struct MountFields {
  Field parent;      // itself in a root
  Field mountpoint;  // a dentry of the parent's
  Field vfsmount;    // the part that struct path points to
  Field root;        // its dentry
  std::uint32_t bytes = 0;
};

// struct inode, include/linux/fs.h.
struct InodeFields {
  Field number;
  Field size;
  Field super_block;
  Field generation;
  std::optional<Field> changed;     // seconds
  std::optional<Field> changed_ns;  // of that second
  std::uint32_t bytes = 0;
};

// struct folio, or struct page before Linux 5.16, include/linux/mm_types.h.
struct PageFields {
  Field flags;
  Field mapping;  // struct address_space
  Field index;    // in pages
  std::uint32_t bytes = 0;
  std::uint64_t struct_size = 0;    // of struct page
  std::uint64_t uptodate_mask = 0;  // PG_uptodate in flags
};

// struct pt_regs on the kernel stack of a thread that came from user mode.
struct UserRegisters {
  std::uint64_t size = 0;
  // From its first byte to the end of the stack.
  std::uint64_t below_stack_end = 0;
  unwind::RegisterFrame frame;
};

// A return address that a tracer has put away (unwind/return_hook.h): struct ftrace_ret_stack
// (include/linux/ftrace.h), struct rethook_node (include/linux/rethook.h), or struct
// kretprobe_instance (include/linux/kprobes.h).
struct HookedReturnFields {
  Field address;
  std::optional<Field> function = {};
  std::optional<Field> frame = {};  // the caller's frame pointer, or `slot`
  std::optional<Field> slot = {};   // where the return address was
  std::uint64_t bytes = 0;          // of the structure
};

// The records of function_graph: members of struct task_struct.
struct GraphTracerFields {
  Field newest;   // int
  Field records;  // a pointer
  HookedReturnFields record;
  bool is_shadow_stack = false;  // words; else an array of records
};

// A task's list of records, which are linked by a struct llist_node.
struct ReturnProbeFields {
  Field first;  // in struct task_struct
  Field node;   // in the record
  HookedReturnFields record;
};

// The tracers that this kernel has.
struct ReturnTracerFields {
  std::optional<GraphTracerFields> graph;
  std::optional<ReturnProbeFields> rethook;
  std::optional<ReturnProbeFields> kretprobe;
};

// Where a Linux kernel keeps what is read from its memory. All of it is found in the kernel's own
// types and symbols: nothing is known by its version.
struct LinuxTypes {
  Arch arch = Arch::kUnknown;
  std::uint64_t thread_size = 0;  // bytes of a kernel stack, THREAD_SIZE
  std::uint64_t page_size = 0;    // bytes
  TaskFields task;
  MmFields mm;
  std::optional<VdsoImageFields> vdso_image;  // where mm.vdso_image is there
  MappingFields mapping;
  MapleFields maple;  // where mm.maple_root is there
  Field special_mapping_name;
  FileFields file;
  DentryFields dentry;
  MountFields mount;
  InodeFields inode;
  Field super_block_device;
  Field page_cache_head;  // address_space.i_pages.xa_head
  XarrayFields xarray;
  PageFields page;
  std::optional<Field> vm_pages;  // vm_struct.pages, where threads have stack_vm_area
  UserRegisters user_registers;
  ReturnTracerFields tracers;

  // `kernel` is a vmlinux, or the file that symbols::open_kernel() makes of a boot image or of
  // memory, and `source` has its types. Error kNotFound where a type lacks a member (the message
  // names it).
  [[nodiscard]] static Result<LinuxTypes> of(const elf::ElfFile& kernel, const TypeSource& source);
};

}  // namespace ringside::guestos
