#include "views/line_order.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "profile/sanitize.h"

namespace ringside::views {
namespace {

using profile::NodeId;
using profile::Profile;

// Nodes whose lines are the same. They come twice: as the ends of lines, and as the beginnings of
// longer ones, which a ';' puts elsewhere among their siblings.
struct Step {
  std::string_view name;
  bool goes_on = false;
  std::size_t first = 0;      // in Walk::nodes_
  std::size_t last = 0;       // behind the last one
  std::size_t pool_size = 0;  // with all siblings
};

bool comes_first(const Step& a, const Step& b) {
  const std::size_t common = std::min(a.name.size(), b.name.size());
  if (const int order = a.name.substr(0, common).compare(b.name.substr(0, common)); order != 0)
    return order < 0;
  // Behind the shorter name stands a ";", or the end of the line, which is before all else.
  const auto next = [common](const Step& step) {
    if (step.name.size() > common) return 1 + int{static_cast<unsigned char>(step.name[common])};
    return step.goes_on ? 1 + int{';'} : 0;
  };
  return next(a) < next(b);
}

class Walk {
 public:
  Walk(const Profile& profile, std::vector<std::uint32_t>& places)
      : profile_(profile), places_(places) {}

  void run() {
    open_root();
    while (!steps_.empty()) {
      const Step step = steps_.back();
      steps_.pop_back();
      nodes_.resize(step.pool_size);
      if (step.goes_on)
        open(step);
      else
        close(step);
    }
  }

 private:
  void close(const Step& step) {
    for (const NodeId node : std::span(nodes_).subspan(step.first, step.last - step.first))
      places_[node] = next_;
    ++next_;
  }

  // Node 0, which has no line of its own, stands for that of idle vCPUs among its children.
  void open_root() {
    nodes_ = {profile::kNoNode};
    add_children(profile::kNoNode);
    add_steps(0);
  }

  // The steps to the nodes below.
  void open(const Step& step) {
    const std::size_t first = nodes_.size();
    for (std::size_t i = step.first; i < step.last; ++i)
      if (nodes_[i] != profile::kNoNode) add_children(nodes_[i]);
    add_steps(first);
  }

  // To the nodes from there on.
  void add_steps(std::size_t first) {
    std::stable_sort(nodes_.begin() + static_cast<std::ptrdiff_t>(first), nodes_.end(),
                     [this](NodeId a, NodeId b) { return name(a) < name(b); });
    std::vector<Step> steps;
    for (std::size_t at = first; at < nodes_.size();) {
      std::size_t end = at + 1;
      while (end < nodes_.size() && name(nodes_[end]) == name(nodes_[at])) ++end;
      for (const bool goes_on : {false, true})
        steps.push_back({name(nodes_[at]), goes_on, at, end, nodes_.size()});
      at = end;
    }
    std::sort(steps.begin(), steps.end(), comes_first);
    steps_.insert(steps_.end(), steps.rbegin(), steps.rend());
  }

  void add_children(NodeId node) {
    const profile::StackTree& stacks = profile_.stacks;
    for (NodeId child = node + 1; child < stacks[node].end; child = stacks[child].end)
      nodes_.push_back(child);
  }

  [[nodiscard]] std::string_view name(NodeId node) const {
    if (node == profile::kNoNode) return profile::kIdleName;
    return profile_.name(profile_.stacks[node].frame);
  }

  const Profile& profile_;
  std::vector<std::uint32_t>& places_;
  std::vector<NodeId> nodes_;  // of all steps
  std::vector<Step> steps_;    // the next one last
  std::uint32_t next_ = 1;
};

}  // namespace

LineOrder::LineOrder(const Profile& profile) : places_(profile.stacks.size()) {
  Walk(profile, places_).run();
}

}  // namespace ringside::views
