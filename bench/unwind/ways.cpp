#include "ways.h"

#include "libdwfl_walker.h"
#include "libunwind_walker.h"
#include "ringside_walker.h"

namespace ringside::bench {
namespace {

Way ringside_way(std::string name, unwind::TableUse tables, bool full_only = false) {
  return {std::move(name), [=](const StackSet& set) -> Result<std::unique_ptr<Walker>> {
            return std::make_unique<RingsideWalker>(
                *set.images,
                unwind::Options{.entries = set.entries, .tables = tables, .full_only = full_only});
          }};
}

template <class LibraryWalker>
Result<std::unique_ptr<Walker>> make_library_walker(const StackSet& set) {
  RINGSIDE_ASSIGN(auto walker, LibraryWalker::make(*set.images));
  return walker;
}

}  // namespace

std::vector<Way> ways_with_tables() {
  return {ringside_way("orc", {.cfi = false}),
          ringside_way("cfi", {.orc = false}),
          ringside_way("full_walk", {.cfi = false}, true),
          {"libdwfl", make_library_walker<LibdwflWalker>},
          {"libunwind", make_library_walker<LibunwindWalker>}};
}

Way frame_pointers() { return ringside_way("frame_pointers", {.orc = false, .cfi = false}); }

Result<Way> find_way(const std::string& name) {
  auto ways = ways_with_tables();
  ways.push_back(frame_pointers());
  for (Way& way : ways)
    if (way.name == name) return std::move(way);
  return fail(ErrorCode::kUsage, "no way is called {}", name);
}

std::vector<bool> agreement(Walker& walker, const StackSet& set) {
  std::vector<bool> same;
  for (std::size_t i = 0; i < set.captures.size(); ++i) {
    const auto& expected = set.expected[i];
    walker.walk(set.captures[i], expected.size());
    auto found = walker.addresses();
    if (found.size() > expected.size()) found.resize(expected.size());
    same.push_back(found == expected);
  }
  return same;
}

}  // namespace ringside::bench
