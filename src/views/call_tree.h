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

// Busy samples merged by name and kind. Node 0 is the root, "all". Nodes are in preorder: those
// below one stand behind it, up to its `end`, and its children are in order of their names.
struct CallTree {
  struct Node {
    std::string_view name;              // lives as long as the profile and the tree
    std::optional<profile::Kind> kind;  // absent: no code, but "all", a vCPU, a root or "[idle]"
    bool inlined = false;               // in all of its frames
    bool several_functions = false;     // of this name and kind, in different images
    const profile::Function* function = nullptr;  // of one frame; null where it is no code
    std::uint32_t end = 0;                        // the node behind the last one below this one
    std::uint32_t depth = 0;                      // of the root 0
    profile::Weight self = 0;                     // weight that ends here
    profile::Weight total = 0;                    // self, plus the children's totals, plus hidden
    profile::Weight hidden = 0;                   // weight of children that were cut
    // The sum of the extents of all groups in `total`, which it equals where none is negative.
    // Shares are of the root's.
    std::uint64_t extent = 0;
  };
  std::vector<Node> nodes;
  std::deque<std::string> own_names;  // those that are not the profile's
  std::uint32_t depth = 0;            // of the deepest node that is not cut
  std::uint64_t hidden = 0;           // extent that was cut, all nodes together

  [[nodiscard]] const Node& root() const { return nodes.front(); }
  [[nodiscard]] std::vector<std::uint32_t> children(std::uint32_t index) const {
    std::vector<std::uint32_t> children;
    for (std::uint32_t child = index + 1; child < nodes[index].end; child = nodes[child].end)
      children.push_back(child);
    return children;
  }
};

struct CallTreeOptions {
  bool reverse = false;             // leaf first: who called this, instead of what did this call
  bool per_vcpu = false;            // a first level with one node per vCPU
  RootFrame by = RootFrame::kComm;  // below that one node per root
  bool show_idle = false;           // idle weight as one frame "[idle]"
  double minimum_share = 0;         // of the root; narrower nodes are cut, with all below them
};

// Sets the ends of nodes in preorder: a node ends where the next one stands that is not deeper.
void set_ends(std::vector<CallTree::Node>& nodes);

// Time and memory grow with the nodes that are not cut, and with the profile's groups.
[[nodiscard]] CallTree make_call_tree(const profile::Profile& profile,
                                      const CallTreeOptions& options = {});

}  // namespace ringside::views
