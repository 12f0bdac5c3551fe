#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "views/owner.h"

namespace ringside::views {

// Busy samples merged by name and kind. Node 0 is the root, "all"; children stand behind their
// parent.
struct CallTree {
  struct Node {
    std::string_view name;              // lives as long as the profile and the tree
    std::optional<profile::Kind> kind;  // absent: no code, but "all", a vCPU, an owner or "[idle]"
    bool inlined = false;               // in all of its frames
    const profile::Function* function = nullptr;  // of its first frame; null where it is no code
    bool several_functions = false;               // of this name and kind, in different images
    std::uint32_t parent = 0;
    std::uint32_t depth = 0;              // of the root 0
    std::uint64_t self = 0;               // weight that ends here
    std::uint64_t total = 0;              // self, plus the children's totals, plus hidden
    std::uint64_t hidden = 0;             // weight of children that were cut
    std::vector<std::uint32_t> children;  // by name
  };
  std::vector<Node> nodes;
  std::deque<std::string> own_names;  // those that are not the profile's
  std::uint32_t depth = 0;            // of the deepest node that is not cut
  std::uint64_t hidden = 0;           // weight that was cut, all nodes together

  [[nodiscard]] const Node& root() const { return nodes.front(); }
};

struct CallTreeOptions {
  bool reverse = false;               // leaf first: who called this, instead of what did this call
  bool per_vcpu = false;              // a first level with one node per vCPU
  OwnerLevel by = OwnerLevel::kComm;  // below that one node per owner, where they are known
  bool show_idle = false;             // idle weight as one frame "[idle]"
  double minimum_share = 0;           // of the root; narrower nodes are cut, with all below them
};

[[nodiscard]] CallTree make_call_tree(const profile::Profile& profile,
                                      const CallTreeOptions& options = {});

}  // namespace ringside::views
