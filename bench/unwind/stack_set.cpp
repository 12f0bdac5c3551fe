#include "stack_set.h"

#include "cases/entry_text.h"
#include "ringside_walker.h"

namespace ringside::bench {
namespace {

Result<std::vector<wire::Capture>> kernel_captures(cli::KeptCaptures& recording) {
  std::vector<std::size_t> numbers;
  const auto& entries = recording.captures.entries();
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].info.level == PrivilegeLevel::kKernel) numbers.push_back(i);
  return cases::read_captures(recording.reader, numbers);
}

}  // namespace

Result<StackSet> load_stacks(const std::string& path, std::size_t limit) {
  StackSet set;
  RINGSIDE_ASSIGN(set.recording, cli::open_kept(path, ""));
  RINGSIDE_ASSIGN(std::vector<wire::Capture> captures, kernel_captures(*set.recording));
  if (captures.empty()) return fail(ErrorCode::kNotFound, "{} holds no kernel stacks", path);
  if (!set.recording->entry_layouts.empty()) {
    RINGSIDE_ASSIGN(set.entries, cases::parse_entries(set.recording->entry_layouts,
                                                      captures.front().arch, path));
  }
  RingsideWalker walker(set.images(), {.entries = set.entries});
  for (wire::Capture& capture : captures) {
    if (set.captures.size() == limit) break;
    walker.walk(capture, 0);
    if (!is_complete(walker.stack().stop)) {
      ++set.incomplete;
      continue;
    }
    set.expected.push_back(walker.addresses());
    set.captures.push_back(std::move(capture));
  }
  if (set.captures.empty()) return fail(ErrorCode::kNotFound, "no stack of {} is complete", path);
  return set;
}

}  // namespace ringside::bench
