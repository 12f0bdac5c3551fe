#pragma once

#include <string>
#include <string_view>

namespace ringside::symbols {

enum class DemangleStyle {
  kFull,     // with arguments, template arguments and clone suffixes
  kVerbose,  // that, and Rust's hashes: of a legacy name behind it, of v0's crates in brackets
  kShort,  // the path only: no parameters, no template or generic arguments, no impl disambiguators
  kAsterinas,  // as Asterinas' profiler has it: asterinas_name.h
  kNone,       // as in the file
};

// A symbol's name as people read it: C++ (Itanium ABI) and Rust (legacy, with or without a hash;
// v0). A name that is not mangled, or is damaged, comes back as it is. Suffixes that compilers add
// to clones (".cold", ".isra.0", ".llvm.123") stay behind the name. Costs microseconds: callers
// keep the answer.
[[nodiscard]] std::string demangle(std::string_view raw, DemangleStyle style);

}  // namespace ringside::symbols
