#include "exporters/report/text_report.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/run_both.h"
#include "base/scheduling.h"
#include "base/text_width.h"
#include "exporters/counts_in_words.h"
#include "exporters/held_text.h"
#include "exporters/report/report_table.h"
#include "exporters/units.h"

namespace ringside::exporters {
namespace {

using profile::Profile;
using views::CallTree;
using views::OverheadSection;

constexpr double kCallGraphMinimumShare = 0.005;

Result<void> write_section(const Profile& profile, const OverheadSection& section,
                           const ReportOptions& options, Sink& sink) {
  std::string head = "# All vCPUs: ";
  if (section.vcpu == recording::kNoVcpu)
    head = "# On no vCPU: ";
  else if (section.vcpu)
    head = fmt::format("# vCPU {}: ", section.vcpu->value);
  head += counts_in_words(profile, section);
  RINGSIDE_TRY(sink.write(head + "\n#\n"));
  if (section.rows.empty()) return sink.write("# Nothing was running.\n\n");
  return write_table(profile, section, options, sink);
}

Result<void> write_vcpus(const Profile& profile, const std::vector<OverheadSection>& sections,
                         const ReportOptions& options, Sink& sink) {
  for (const OverheadSection& section : sections)
    RINGSIDE_TRY(write_section(profile, section, options, sink));
  return {};
}

// How far a line of the tree is indented. Deep trees leave half of a terminal for the names.
class Indentation {
 public:
  Indentation(const CallTree& tree, std::size_t width) {
    std::size_t deepest = 0;
    for (const CallTree::Node& node : tree.nodes)
      deepest = std::max<std::size_t>(deepest, node.depth + 1);
    if (width == 0) return;
    most_ = width / 2;
    if (2 * deepest > most_) step_ = 1;
  }
  [[nodiscard]] std::size_t at(std::size_t depth) const { return std::min(most_, step_ * depth); }

 private:
  std::size_t step_ = 2;
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
};

class TreeWriter {
 public:
  TreeWriter(const CallTree& tree, std::size_t width, Sink& sink)
      : tree_(tree), width_(width), indentation_(tree, width), sink_(sink) {}

  Result<void> line(profile::Weight weight, std::size_t depth, const std::string& text) {
    const std::string percent = format_share(weight, tree_.root().extent) + "%";
    const std::string gap(10 - std::min<std::size_t>(10, percent.size()), ' ');
    const std::string indent(2 + indentation_.at(depth), ' ');
    const std::size_t used = gap.size() + percent.size() + indent.size();
    RINGSIDE_TRY(sink_.write(gap));
    const auto colour = colour_of_share(profile::extent_of(weight), tree_.root().extent);
    RINGSIDE_TRY(colour ? sink_.paint(percent, *colour) : sink_.write(percent));
    const std::string fitted =
        width_ == 0 ? text : cut_middle(text, width_ > used ? width_ - used : 1);
    return sink_.write(indent + fitted + "\n");
  }

 private:
  const CallTree& tree_;
  std::size_t width_;
  Indentation indentation_;
  Sink& sink_;
};

Result<void> write_tree(const CallTree& tree, std::size_t width, Sink& sink) {
  RINGSIDE_TRY(sink.write("# Call tree: share of what was sampled, outermost caller first\n#\n"));
  TreeWriter writer(tree, width, sink);
  // Heaviest child first here; the tree itself is sorted by name.
  std::vector<std::uint32_t> todo{0};
  while (!todo.empty()) {
    const std::uint32_t index = todo.back();
    const CallTree::Node& node = tree.nodes[index];
    todo.pop_back();
    RINGSIDE_TRY(writer.line(node.total, node.depth,
                             fmt::format("{}{}", node.name, node.inlined ? kInlined : "")));
    if (node.hidden != 0)
      RINGSIDE_TRY(writer.line(node.hidden, node.depth + 1,
                               fmt::format("(below {}%)", kCallGraphMinimumShare * 100)));
    std::vector<std::uint32_t> children = tree.children(index);
    std::stable_sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
      return tree.nodes[a].extent > tree.nodes[b].extent;
    });
    todo.insert(todo.end(), children.rbegin(), children.rend());
  }
  return sink.write("\n");
}

// Where there is a second processor, the text of the vCPUs is made while that of all is written.
Result<void> write_sections(const Profile& profile, const views::OverheadTable& table,
                            const ReportOptions& options, Sink& sink) {
  constexpr std::size_t kMostHeld = 64 << 20;  // bytes
  // One vCPU would only say the same again.
  if (table.per_vcpu.size() < 2) return write_section(profile, table.all, options, sink);
  Result<void> all;
  HeldText held(processors() > 1 ? kMostHeld : 0);
  run_both([&] { all = write_section(profile, table.all, options, sink); },
           [&] { (void)write_vcpus(profile, table.per_vcpu, options, held); });
  RINGSIDE_TRY(all);
  return held.is_full() ? write_vcpus(profile, table.per_vcpu, options, sink) : held.write_to(sink);
}

}  // namespace

Result<void> write_report(const Profile& profile, const ReportOptions& options, Sink& sink) {
  const views::OverheadTable table = views::make_overhead(profile, options.overhead);
  RINGSIDE_TRY(write_sections(profile, table, options, sink));
  if (!options.call_graph || table.all.extent == 0) return {};
  views::CallTreeOptions tree;
  tree.minimum_share = kCallGraphMinimumShare;
  return write_tree(views::make_call_tree(profile, tree), options.width, sink);
}

}  // namespace ringside::exporters
