#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "views/call_tree.h"

namespace ringside::views {

// Two profiles as one tree with a tower for each, both of the same width: a frame that is gone
// stands in the first, one that is new in the second.
struct CallTreeChange {
  CallTree tree;  // node 0: "all"; below it the root of each tower. Weights are those of a tower.
  struct Shares {
    double before = 0;  // of all its samples, from 0 to 1
    double after = 0;
    [[nodiscard]] double change() const { return after - before; }
  };
  std::vector<Shares> shares;  // by node: of the frame with these callers
  double greatest = 0;         // change of a frame, whatever its sign
  // A change that random samples of so many have by chance: three standard errors of a share of a
  // half.
  double noise = 0;
};

struct CallTreeChangeOptions {
  bool reverse = false;      // as in CallTreeOptions
  double minimum_share = 0;  // of both towers together; narrower nodes are cut
  std::string before_name = "before";
  std::string after_name = "after";
};

// The profiles have names across builds, as use_names_across_builds() makes them, and live as long
// as what is returned.
[[nodiscard]] CallTreeChange compare_call_trees(const profile::Profile& before,
                                                const profile::Profile& after,
                                                const CallTreeChangeOptions& options);

}  // namespace ringside::views
