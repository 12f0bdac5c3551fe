/* Preloaded into a compiler: its memory is of large pages where the kernel gives those to whoever asks. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  void *mapped = (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
  if (mapped != MAP_FAILED && (flags & MAP_ANONYMOUS) && length >= 1 << 20)
    madvise(mapped, length, MADV_HUGEPAGE);
  return mapped;
}
