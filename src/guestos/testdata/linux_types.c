#include "linux_types.h"

struct task_struct init_task;
// Per CPU, as on x86.
struct task_struct* current_task;
unsigned long __per_cpu_offset[1];
struct signal_struct signal;
struct tty_struct tty;
struct cred cred;
struct kthread kthread;
struct vm_area_struct vma;
struct maple_node node;
struct vm_special_mapping special;
struct vdso_image vdso_image;
struct file file;
struct fs_struct fs_struct;
struct dentry dentry;
struct mount mount;
struct address_space address_space;
struct super_block super_block;
struct inode inode;
struct xa_node xa_node;
struct folio folio;
struct vm_struct vm_struct;
enum pageflags pageflags;
struct thread_struct thread;
struct pt_regs registers;
struct rethook_node rethook_node;
struct kretprobe_instance kretprobe_instance;

void return_to_handler(void) {}
void arch_rethook_trampoline(void) {}
void kretprobe_trampoline(void) {}

asm(".globl __start_init_task, __end_init_task\n"
    ".pushsection .data\n__start_init_task: .skip 0x4000\n__end_init_task: .popsection");
