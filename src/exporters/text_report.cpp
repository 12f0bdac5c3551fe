#include "exporters/text_report.h"

#include <algorithm>
#include <string>

#include "exporters/counts_in_words.h"
#include "exporters/report_table.h"
#include "exporters/units.h"

namespace ringside::exporters {
namespace {

using profile::Profile;
using views::CallTree;
using views::OverheadSection;

constexpr double kCallGraphMinimumShare = 0.005;

Result<void> write_section(const Profile& profile, const OverheadSection& section,
                           const ReportOptions& options, Sink& sink) {
  const std::string head =
      (section.vcpu ? fmt::format("# vCPU {}: ", section.vcpu->value) : "# All vCPUs: ") +
      counts_in_words(profile, section);
  RINGSIDE_TRY(sink.write(head + "\n#\n"));
  if (section.rows.empty()) return sink.write("# Nothing was running.\n\n");
  return write_table(profile, section, options, sink);
}

Result<void> write_tree(const CallTree& tree, Sink& sink) {
  RINGSIDE_TRY(sink.write("# Call tree: share of what was sampled, outermost caller first\n#\n"));
  // Heaviest child first here; the tree itself is sorted by name.
  std::vector<std::uint32_t> todo{0};
  while (!todo.empty()) {
    const CallTree::Node& node = tree.nodes[todo.back()];
    todo.pop_back();
    RINGSIDE_TRY(sink.write(fmt::format("{:>9}%  {:>{}}{}{}\n",
                                        format_percent(node.total, tree.root().total), "",
                                        2 * node.depth, node.name, node.inlined ? kInlined : "")));
    if (node.hidden != 0)
      RINGSIDE_TRY(sink.write(fmt::format("{:>9}%  {:>{}}(below {}%)\n",
                                          format_percent(node.hidden, tree.root().total), "",
                                          2 * (node.depth + 1), kCallGraphMinimumShare * 100)));
    std::vector<std::uint32_t> children = node.children;
    std::stable_sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
      return tree.nodes[a].total > tree.nodes[b].total;
    });
    todo.insert(todo.end(), children.rbegin(), children.rend());
  }
  return sink.write("\n");
}

}  // namespace

Result<void> write_report(const Profile& profile, const ReportOptions& options, Sink& sink) {
  const views::OverheadTable table = views::make_overhead(profile, options.overhead);
  RINGSIDE_TRY(write_section(profile, table.all, options, sink));
  // One vCPU would only say the same again.
  if (table.per_vcpu.size() > 1)
    for (const OverheadSection& section : table.per_vcpu)
      RINGSIDE_TRY(write_section(profile, section, options, sink));
  if (!options.call_graph || table.all.sampled == 0) return {};
  views::CallTreeOptions tree;
  tree.minimum_share = kCallGraphMinimumShare;
  return write_tree(views::make_call_tree(profile, tree), sink);
}

}  // namespace ringside::exporters
