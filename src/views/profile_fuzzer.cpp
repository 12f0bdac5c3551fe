#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "profile/builder.h"
#include "recording/block.h"
#include "recording/reader.h"
#include "views/call_tree.h"
#include "views/overhead.h"
#include "views/row_trees.h"

namespace {

using namespace ringside;

void check(bool good) {
  if (!good) std::abort();
}

// The totals are modulo 2^64, as a hostile recording's weights make them.
void check_sums(const profile::Profile& profile) {
  std::uint64_t weight = profile.filtered_weight;
  profile::NodeId last = 0;
  for (const profile::SampleGroup& group : profile.samples) {
    weight += static_cast<std::uint64_t>(group.weight);
    check(group.stack >= last && group.stack < profile.stacks.size());
    check(group.user_part < profile.stacks.size());
    check((group.stack != profile::kNoNode) == profile.is_sampled(group));
    last = group.stack;
  }
  check(!profile.left_out.empty() || weight == profile.totals.total_weight());
}

void check_sums(const views::CallTree& tree, profile::Weight sampled) {
  check(tree.root().total == sampled && tree.root().end == tree.nodes.size());
  for (std::uint32_t index = 0; index < tree.nodes.size(); ++index) {
    profile::Weight sum = tree.nodes[index].self + tree.nodes[index].hidden;
    for (const std::uint32_t child : tree.children(index)) sum += tree.nodes[child].total;
    check(sum == tree.nodes[index].total);
  }
}

}  // namespace

// The input is the records of a block, and a byte of options behind them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty() || bytes.size() > recording::kMaxBlockSize) return 0;
  static recording::BlockEncoder encoder;
  const std::string file =
      recording::file_header() + encoder.encode(recording::BlockKind::kRecords, 0,
                                                {reinterpret_cast<const char*>(data), size - 1});
  auto reader = recording::Reader::open(as_bytes(file), "fuzz");
  if (!reader) return 0;
  const auto option = [&](unsigned bit) { return (data[size - 1] >> bit & 1) != 0; };
  profile::BuildOptions build;
  build.join_interrupts = option(0);
  build.filter.user_only = option(1);
  profile::NoNames names;
  const auto profile = profile::build_profile(*reader, names, build);
  if (!profile) return 0;
  check_sums(*profile);
  views::CallTreeOptions options;
  options.reverse = option(2);
  options.per_vcpu = option(3);
  options.by = static_cast<views::RootFrame>((data[size - 1] >> 4) % 5);
  options.minimum_share = option(6) ? 0.01 : 0;
  check_sums(views::make_call_tree(*profile, options),
             profile->weight_of(wire::Disposition::kSampled));
  views::OverheadOptions overhead;
  overhead.per_vcpu = option(3);
  const views::OverheadTable table = views::make_overhead(*profile, overhead);
  views::RowTreeOptions how;
  how.callees = option(2);
  how.with_callees = option(6);
  how.most_nodes = 100;
  const views::RowTrees trees(*profile, overhead, table.all, how);
  for (std::size_t row = 0; row < std::min<std::size_t>(table.all.rows.size(), 100); ++row)
    check(trees.of(row).nodes.size() <= how.most_nodes);
  return 0;
}
