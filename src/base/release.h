#pragma once

#include <vector>

namespace ringside {

// Empties a vector and gives its memory back, which assigning `{}` does not.
template <class T, class Allocator>
void release(std::vector<T, Allocator>& vector) {
  std::vector<T, Allocator>().swap(vector);
}

}  // namespace ringside
