#pragma once

#include <optional>
#include <string_view>

#include "symbols/dwarf/type_names.h"

namespace ringside::symbols::dwarf {

// The entry of a variable outside of functions and types, by its namespaces and its name:
// "kernel::profiling::MAP". One without a type is none. Units are gone through until it is found.
[[nodiscard]] std::optional<EntryPlace> find_variable(DebugFile& file, const TypeNames& names,
                                                      std::string_view path);

}  // namespace ringside::symbols::dwarf
