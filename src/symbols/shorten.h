#pragma once

#include <string>
#include <string_view>

namespace ringside::symbols {

// Removes from a demangled C++ or Rust name what a flame graph has no room for:
//   foo<int>::bar<char>                     foo::bar
//   <kernel::Task as Drop>::drop            kernel::Task::drop
//   core::num::<impl core::fmt::X for u8>::fmt   core::num::u8::fmt
//   alloc::vec::Vec<T>::push::<u8>          alloc::vec::Vec::push
// Operators ("operator<<", "operator->") and braces ("{lambda(int)#1}") stay whole.
[[nodiscard]] std::string shorten(std::string_view name);

}  // namespace ringside::symbols
