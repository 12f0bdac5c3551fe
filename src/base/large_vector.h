#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace ringside {

// Allocates large arrays in huge pages where the host has them to give: fewer pages are to be
// touched a first time, and a look-up finds its page in the processor's table more often.
template <class T>
class LargeAllocator {
 public:
  using value_type = T;

  LargeAllocator() = default;
  template <class U>
  explicit LargeAllocator(const LargeAllocator<U>&) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kHugePage) return static_cast<T*>(::operator new(bytes));
    void* const memory = ::operator new(bytes, std::align_val_t(kHugePage));
    (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // a hint
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kHugePage)
      ::operator delete(memory);
    else
      ::operator delete(memory, std::align_val_t(kHugePage));
  }
  bool operator==(const LargeAllocator&) const = default;

 private:
  static constexpr std::size_t kHugePage = 2 << 20;  // of x86_64, and of aarch64 as it is common
};

// For arrays that grow with the number of stacks.
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace ringside
