// Structures named as Linux's are, whose layout the compiler shows in two ways: as BTF, and by
// offsetof. Only what they hold is Linux's, not the order; maple_node is as it is there.
#ifndef RINGSIDE_LINUX_TYPES_H
#define RINGSIDE_LINUX_TYPES_H

struct maple_tree {
  unsigned int ma_flags;
  void* ma_root;
};

#ifdef __x86_64__
enum { kRangeSlots = 16, kArangeSlots = 10, kNodeSlots = 31 };
#else
enum { kRangeSlots = 32, kArangeSlots = 21, kNodeSlots = 63 };
#endif

struct maple_range_64 {
  void* parent;
  unsigned long pivot[kRangeSlots - 1];
  void* slot[kRangeSlots];
};

struct maple_arange_64 {
  void* parent;
  unsigned long pivot[kArangeSlots - 1];
  void* slot[kArangeSlots];
  unsigned long gap[kArangeSlots];
};

struct maple_node {
  union {
    struct {
      void* parent;
      void* slot[kNodeSlots];
    };
    struct maple_range_64 mr64;
    struct maple_arange_64 ma64;
  };
} __attribute__((aligned(256)));

struct mm_struct {
  struct {
    long first;
    void* pgd;
    int map_count;
    unsigned long exec_vm;
    unsigned long start_code, end_code, start_stack;
    void* exe_file;
    struct maple_tree mm_mt;
    struct {
      void* vdso;
      const struct vdso_image* vdso_image;
    } context;
    unsigned long total_vm, locked_vm, arg_start, arg_end;
    struct {
      long count[4];
    } rss_stat;
  };
  unsigned long cpu_bitmap[1];
};

struct vdso_image {
  void* data;
  unsigned long size, alt;
};

struct vm_special_mapping {
  void* pages;
  const char* name;
};

struct vm_area_struct {
  unsigned long vm_start;
  unsigned long vm_end;
  unsigned char padding;
  struct mm_struct* vm_mm;
  union {
    const unsigned long vm_flags;
    unsigned long __vm_flags;
  };
  const void* vm_ops;
  unsigned long vm_pgoff;
  struct file* vm_file;
  void* vm_private_data;
};

struct xa_node {
  unsigned char shift, offset, count, nr_values;
  struct xa_node* parent;
  void* array;
  void* slots[64];
};

struct xarray {
  unsigned int xa_lock;
  void* xa_head;
};

struct list_head {
  struct list_head *next, *prev;
};

struct super_block {
  void* s_list[2];
  unsigned int s_dev;
};

struct inode {
  unsigned short i_mode;
  struct super_block* i_sb;
  unsigned long i_ino;
  long long i_size;
  long long i_ctime_sec;
  unsigned int i_ctime_nsec;
  unsigned int i_generation;
  struct address_space* i_mapping;
};

struct address_space {
  struct inode* host;
  struct xarray i_pages;
};

struct qstr {
  union {
    struct {
      unsigned int hash, len;
    };
    unsigned long long hash_len;
  };
  const char* name;
};

struct dentry {
  unsigned int d_flags;
  struct {
    void *next, **pprev;
  } d_hash;
  struct dentry* d_parent;
  struct qstr d_name;
  struct inode* d_inode;
  struct list_head d_child, d_subdirs;
};

struct vfsmount {
  struct dentry* mnt_root;
};

struct mount {
  void* mnt_hash[2];
  struct mount* mnt_parent;
  struct dentry* mnt_mountpoint;
  struct vfsmount mnt;
  struct list_head mnt_mounts, mnt_child;
};

struct path {
  struct vfsmount* mnt;
  struct dentry* dentry;
};

struct file {
  int f_mode;
  struct address_space* f_mapping;
  struct inode* f_inode;
  struct path f_path;
};

struct fs_struct {
  int users;
  struct path root, pwd;
};

enum pageflags { PG_locked, PG_referenced, PG_uptodate };

struct page {
  unsigned long flags;
  void* lru[2];
  void* mapping;
  unsigned long index;
  unsigned long rest[3];
};

struct folio {
  union {
    struct {
      unsigned long flags;
      void* lru[2];
      void* mapping;
      unsigned long index;
    };
    struct page page;
  };
};

struct vm_struct {
  void* next;
  void* addr;
  struct page** pages;
};

enum pid_type { PIDTYPE_PID, PIDTYPE_TGID, PIDTYPE_PGID, PIDTYPE_SID, PIDTYPE_MAX };

struct upid {
  int nr;
  void* ns;
};

struct pid {
  int count;
  unsigned int level;
  struct upid numbers[1];
};

struct tty_struct {
  int kref;
  char name[64];
  struct {
    struct pid *pgrp, *session;
  } ctrl;
};

struct signal_struct {
  int nr_threads;
  struct pid* pids[PIDTYPE_MAX];
  struct list_head thread_head;
  struct tty_struct* tty;
  unsigned long long sum_sched_runtime;
};

struct cred {
  int usage;
  struct {
    unsigned int val;
  } uid, euid;
};

struct kernfs_node {
  int count;
  struct kernfs_node* parent;
  const char* name;
};

struct cgroup {
  int flags;
  struct kernfs_node* kn;
};

struct css_set {
  int refcount;
  struct cgroup* dfl_cgrp;
};

struct kthread {
  unsigned long kflags;
  const char* full_name;
};

// As before Linux 6.11.
struct ftrace_ret_stack {
  unsigned long long calltime;
  unsigned long ret;
  unsigned long func;
  unsigned long fp;
  unsigned long* retp;
};

struct llist_node {
  struct llist_node* next;
};

struct llist_head {
  struct llist_node* first;
};

struct rethook_node {
  void* callback[2];
  struct llist_node llist;
  void* rethook;
  unsigned long ret_addr;
  unsigned long frame;
};

struct kretprobe_instance {
  void* fp;
  struct llist_node llist;
  void* ret_addr;
};

struct task_struct {
  unsigned int flags;
  void* stack;
  struct vm_struct* stack_vm_area;
  struct mm_struct* mm;
  struct mm_struct* active_mm;
  char odd;
  int pid;
  int tgid;
  unsigned long long start_time;
  char comm[16];
  unsigned int __state;
  int exit_state;
  unsigned int cpu;
  int static_prio;
  struct list_head tasks;
  struct list_head thread_node;
  struct task_struct* group_leader;
  struct task_struct* real_parent;
  struct signal_struct* signal;
  const struct cred* real_cred;
  struct {
    int weight;
    unsigned long long sum_exec_runtime;
  } se;
  unsigned long long start_boottime;
  void* worker_private;
  struct css_set* cgroups;
  struct fs_struct* fs;
  int curr_ret_stack;
  struct ftrace_ret_stack* ret_stack;
  struct llist_head kretprobe_instances;
  struct llist_head rethooks;
};

struct thread_struct {
  void* vm86;
};

#ifdef __x86_64__
struct pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip;
  union {
    unsigned short cs;
    unsigned long csx;
  };
  unsigned long flags, sp, ss;
};
#else
struct pt_regs {
  unsigned long bx, cx, dx, si, di, bp, ax, ds, es, fs, gs, orig_ax, ip, cs, flags, sp, ss;
};
#endif

#endif
