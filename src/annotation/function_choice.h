#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "annotation/leaf_sums.h"
#include "base/result.h"
#include "profile/string_table.h"

namespace ringside::annotation {

// The samples in one compiled function: all leaves of one symbol, wherever processes map it.
struct SampledFunction {
  std::vector<const Leaf*> leaves;
  Sum sum;
  // Another function that is inlined into this one, and to which `leaves` belong; 0: none.
  profile::StringId inlined = 0;

  [[nodiscard]] const Leaf& front() const { return *leaves.front(); }
};

// The functions that `name` calls for, heaviest first: those of that name, else those that one of
// that name is inlined into. A name of C++ or Rust is found without its parameters, too. An empty
// name calls for all functions. Error kNotFound: names some that are alike. `sums` and `strings`
// must outlive the result.
[[nodiscard]] Result<std::vector<SampledFunction>> choose_functions(
    const LeafSums& sums, const profile::StringTable& strings, std::string_view name);

// Whether `asked` calls for a function of that name: by the whole of it, or without its parameters.
[[nodiscard]] bool is_called_for(std::string_view name, std::string_view asked);

}  // namespace ringside::annotation
