#include "workloads/chain_functions.h"

#include "workloads/work.h"

namespace {
enum : u32 { kChecksumPage, kCopyPage, kSearchTree };

// bench/diff builds kernels with other values: how long a round is, and how slow search_tree is.
#ifdef RINGSIDE_DEMO_PERCENT
constexpr u64 kPercent = RINGSIDE_DEMO_PERCENT;
#else
constexpr u64 kPercent = 8000;  // iterations
#endif
#ifdef RINGSIDE_DEMO_SEARCH_PERMILLE
constexpr u64 kSearchPermille = RINGSIDE_DEMO_SEARCH_PERMILLE;
#else
constexpr u64 kSearchPermille = 1000;
#endif
}  // namespace

// The leaves touch no stack: even with -fno-omit-frame-pointer GCC gives them no frame.
extern "C" void checksum_page(u64 n) { spin(n); }
extern "C" void copy_page(u64 n) { spin(n); }
extern "C" void search_tree(u64 n) {
  spin(kSearchPermille == 1000 ? n : n * kSearchPermille / 1000);
}

CALLS_LEAF(page_cache_read, checksum_page, kChecksumPage)
CALLS(sys_read, page_cache_read)

CALLS_LEAF(journal_block, checksum_page, kChecksumPage)
CALLS(journal_commit, journal_block)
CALLS(writeback_page, journal_commit)
CALLS(page_cache_write, writeback_page)
CALLS(file_write, page_cache_write)
CALLS(vfs_write, file_write)
CALLS(sys_write, vfs_write)

CALLS_LEAF(break_cow, copy_page, kCopyPage)
CALLS(anonymous_fault, break_cow)
CALLS(handle_fault, anonymous_fault)
CALLS(page_fault, handle_fault)

CALLS_LEAF(duplicate_page, copy_page, kCopyPage)
CALLS(copy_present_page, duplicate_page)
CALLS(copy_pte, copy_present_page)
CALLS(copy_pmd, copy_pte)
CALLS(copy_pud, copy_pmd)
CALLS(copy_p4d, copy_pud)
CALLS(copy_pgd, copy_p4d)
CALLS(copy_range, copy_pgd)
CALLS(copy_address_space, copy_range)
CALLS(clone_process, copy_address_space)
CALLS(sys_fork, clone_process)

CALLS_LEAF(timer_insert, search_tree, kSearchTree)
CALLS(poll_wait, timer_insert)
CALLS(sys_poll, poll_wait)

CALLS_LEAF(directory_index, search_tree, kSearchTree)

// A large frame.
extern "C" void directory_find(u64 n) {
  char block[1024];
  asm volatile("" : : "r"(block) : "memory");
  directory_index(n);
  asm volatile("" : : "r"(block) : "memory");
}

// A frame of variable size: rbp is the frame's base in both variants.
extern "C" void lookup_slow(u64 n) {
  auto* name = static_cast<char*>(__builtin_alloca(n % 200 + 16));
  asm volatile("" : : "r"(name) : "memory");
  directory_find(n);
  asm volatile("" : : "r"(name) : "memory");
}

CALLS(lookup_dentry, lookup_slow)

// All callee-saved registers are in use, so all are on the stack.
extern "C" void lookup_component(u64 n) {
  asm volatile("" : : : "rbx", "r12", "r13", "r14", "r15", "memory");
  lookup_dentry(n);
  asm volatile("" : : : "rbx", "r12", "r13", "r14", "r15", "memory");
}

CALLS(path_walk, lookup_component)
CALLS(path_open, path_walk)
CALLS(sys_open, path_open)

extern "C" void chains_round() {
  sys_read(20 * kPercent);
  sys_write(30 * kPercent);
  page_fault(12 * kPercent);
  sys_fork(18 * kPercent);
  sys_poll(8 * kPercent);
  sys_open(12 * kPercent);
}
