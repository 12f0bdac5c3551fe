#pragma once

#include <optional>
#include <string_view>

#include "symbols/dwarf/type_names.h"

namespace ringside::symbols::dwarf {

// The entry of the first variable that has this name and a type, outside of functions and types,
// in any namespace. Units are gone through until it is found.
[[nodiscard]] std::optional<EntryPlace> find_variable(DebugFile& file, std::string_view name);

}  // namespace ringside::symbols::dwarf
