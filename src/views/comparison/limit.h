#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "views/comparison/comparison.h"

namespace ringside::views {

// A limit of how much the share of a function may change: "kernel:vfs_write > +2%".
struct ChangeLimit {
  std::string text;   // as it was given
  std::string whole;  // the part of it that names the function; empty: any function
  std::string place;  // the kind of code or the image before a colon in that; empty: any
  std::string name;   // what is behind the colon
  bool is_growth = true;
  // Percentage points of all samples: from 0 up where it is of growth, else from 0 down.
  double points = 0;

  // Whether a change, of shares from 0 to 1, is beyond it.
  [[nodiscard]] bool is_passed_by(double change) const {
    return is_growth ? 100 * change > points : 100 * change < points;
  }
  [[nodiscard]] bool has_name() const { return !whole.empty(); }
};

// Reads "[KIND:|IMAGE:]NAME > +2%" and, where `has_name` is false, "> 2%". "<" limits how far a
// share falls: "NAME < -1%". Error kUsage.
[[nodiscard]] Result<ChangeLimit> parse_limit(std::string_view text, bool has_name);

// A function that went beyond a limit.
struct LimitBreach {
  const ChangeLimit* limit = nullptr;
  const ComparedFunction* function = nullptr;
  bool is_sure = false;
  double p = 1;  // corrected for the limits, or, for a limit of any function, for the functions
};

// A limit with a name is of the function's time with its callees, one without a name of each
// function's own. A breach is sure where p is below `chance`.
[[nodiscard]] std::vector<LimitBreach> breaches(const Comparison& comparison,
                                                const std::vector<ChangeLimit>& limits,
                                                double chance);

// The functions that a limit with a name is about: those of the whole name, which may have a colon,
// else those of the name behind the colon; in both cases else those without their parameters.
[[nodiscard]] std::vector<const ComparedFunction*> functions_of(const Comparison& comparison,
                                                                const ChangeLimit& limit);

}  // namespace ringside::views
