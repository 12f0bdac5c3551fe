#include "exporters/report/row_tree_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text_width.h"
#include "exporters/units.h"

namespace ringside::exporters {
namespace {

using profile::Profile;
using views::RowTree;
using Node = RowTree::Node;

constexpr std::size_t kMargin = 12;      // before a tree
constexpr std::size_t kFirstDashes = 3;  // before a row's only stack
constexpr std::size_t kStep = 11;        // between two levels
constexpr std::size_t kNarrowStep = 2;
constexpr std::size_t kMostBars = 32;  // of levels further in, the outermost ones have no room

// Writes the lines of one row. A level is a run of functions of which each leads to the next alone:
// its first line has its share.
class TreeText {
 public:
  TreeText(const Profile& profile, std::uint64_t extent, const RowTree& tree, std::size_t width,
           Sink& sink)
      : profile_(profile), extent_(extent), nodes_(tree.nodes), width_(width), sink_(sink) {
    if (width != 0 && kMargin + kStep * levels() > width / 2) step_ = kNarrowStep;
  }

  Result<void> write(profile::Weight of_row, bool has_row) {
    std::size_t at = 0;
    if (!nodes_.empty() && nodes_[0].is_last && nodes_[0].weight == of_row)
      RINGSIDE_TRY(write_only_stack(has_row, at));
    RINGSIDE_TRY(write_levels(at));
    return has_written_ ? sink_.write("\n") : Result<void>();
  }

 private:
  // Levels of the tree, one within the other.
  [[nodiscard]] std::size_t levels() const {
    std::vector<std::size_t> by_depth;
    std::size_t most = 0;
    for (const Node& node : nodes_) {
      by_depth.resize(node.depth);
      by_depth.push_back((by_depth.empty() ? 0 : by_depth.back()) + (node.is_only ? 0 : 1));
      most = std::max(most, by_depth.back());
    }
    return most;
  }

  // The functions that all samples of the row have, behind dashes. Sets `at` to what comes next.
  Result<void> write_only_stack(bool has_row, std::size_t& at) {
    do {
      if (at == 0 && !has_row) continue;
      if (!has_written_) RINGSIDE_TRY(sink_.write(std::string(margin_, ' ') + "|\n"));
      const std::string before = std::string(margin_, ' ') + (has_written_ ? "" : "---");
      RINGSIDE_TRY(write_name(before.size(), before, nodes_[at]));
      if (!has_written_) margin_ += kFirstDashes;
      has_written_ = true;
    } while (++at < nodes_.size() && nodes_[at].is_only);
    return {};
  }

  Result<void> write_levels(std::size_t at) {
    if (at == nodes_.size()) return {};
    has_written_ = true;
    std::vector<Level> open;
    for (; at < nodes_.size(); ++at) {
      const Node& node = nodes_[at];
      while (!open.empty() && !node.is_only && open.back().depth >= node.depth) open.pop_back();
      if (!node.is_only) {
        open.push_back({node.depth, true});
        if (step_ == kStep) RINGSIDE_TRY(sink_.write(bars(open, open.size()) + "\n"));
        open.back().goes_on = !node.is_last;
        RINGSIDE_TRY(write_share(bars(open, open.size() - 1), node, node.is_last));
      } else {
        const std::string before =
            bars(open, open.size()) + (step_ == kStep ? "" : std::string(kStep - kNarrowStep, ' '));
        RINGSIDE_TRY(write_name(before.size(), before, node));
      }
    }
    return {};
  }

  struct Level {
    std::uint32_t depth = 0;  // of its first node
    bool goes_on = false;     // another level stands beside it, further down
  };

  // The bars of the first `count` levels. A level that a line begins has one even where it is the
  // last of its siblings: the caller says so.
  [[nodiscard]] std::string bars(const std::vector<Level>& open, std::size_t count) const {
    std::string text(margin_, ' ');
    for (std::size_t i = count > kMostBars ? count - kMostBars : 0; i < count; ++i) {
      text += open[i].goes_on ? '|' : ' ';
      text.append(step_ - 1, ' ');
    }
    return text;
  }

  Result<void> write_share(std::string before, const Node& node, bool is_last) {
    before += is_last ? " --" : "|--";
    const std::string share = format_share(node.weight, extent_) + "%";
    RINGSIDE_TRY(sink_.write(before));
    const auto colour = colour_of_share(node.extent, extent_);
    RINGSIDE_TRY(colour ? sink_.paint(share, *colour) : sink_.write(share));
    return write_name(before.size() + share.size() + 2, "--", node);
  }

  // Behind `used` cells, the last of which are `before`.
  Result<void> write_name(std::size_t used, const std::string& before, const Node& node) {
    std::string name = fmt::format("{}{}", profile_.strings[profile_.functions[node.function].name],
                                   node.inlined ? kInlined : "");
    if (width_ != 0) name = cut_middle(name, width_ > used ? width_ - used : 1);
    return sink_.write(before + name + "\n");
  }

  const Profile& profile_;
  std::uint64_t extent_;
  const std::vector<Node>& nodes_;
  std::size_t width_;
  Sink& sink_;
  std::size_t margin_ = kMargin;
  std::size_t step_ = kStep;
  bool has_written_ = false;
};

}  // namespace

Result<void> write_row_tree(const Profile& profile, const views::OverheadSection& section,
                            const views::OverheadRow& row, const RowTree& tree,
                            const ReportOptions& options, Sink& sink) {
  return TreeText(profile, section.extent, tree, options.width, sink)
      .write(options.trees.with_callees ? row.total : row.self, options.tree_has_row);
}

}  // namespace ringside::exporters
