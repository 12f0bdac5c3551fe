#pragma once

#include <string>
#include <string_view>

namespace ringside::symbols {

// A demangled name as Asterinas' profiler cleans up what gdb prints: without generics, without
// "::{closure#0}" and "::{impl#1}", without arguments, up to the first space.
//   ostd::sync::SpinLock<T>::lock::{closure#0}    ostd::sync::SpinLock::lock
[[nodiscard]] std::string asterinas_name(std::string_view name);

}  // namespace ringside::symbols
