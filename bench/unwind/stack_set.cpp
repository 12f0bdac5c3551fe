#include "stack_set.h"

#include "cases/entry_text.h"
#include "cases/recorded_captures.h"
#include "kernel_image/open_elf.h"
#include "ringside_walker.h"

namespace ringside::bench {
namespace {

Result<std::unique_ptr<elf::ImageMap>> open_images(
    const std::vector<recording::ImageInfo>& images) {
  auto map = std::make_unique<elf::ImageMap>();
  for (const recording::ImageInfo& image : images) {
    if (image.path.empty()) continue;  // a module, which was read from guest memory
    RINGSIDE_ASSIGN(auto file, kernel_image::open_elf(image.path));
    map->add({.id = image.id,
              .name = image.name,
              .file = std::move(file),
              .load_bias = image.load_bias});
  }
  return map;
}

Result<std::vector<wire::Capture>> kernel_captures(recording::Reader& reader,
                                                   const cases::RecordedCaptures& recorded) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < recorded.entries().size(); ++i)
    if (recorded.entries()[i].info.level == PrivilegeLevel::kKernel) numbers.push_back(i);
  return cases::read_captures(reader, numbers);
}

}  // namespace

Result<StackSet> load_stacks(const std::string& path, std::size_t limit) {
  StackSet set;
  RINGSIDE_ASSIGN(auto reader, recording::Reader::open(path));
  cases::RecordedCaptures recorded;
  RINGSIDE_TRY(reader.for_each(recorded));
  RINGSIDE_ASSIGN(set.images, open_images(recorded.images()));
  RINGSIDE_ASSIGN(std::vector<wire::Capture> captures, kernel_captures(reader, recorded));
  if (captures.empty())
    return fail(ErrorCode::kNotFound, "{} holds no kernel stacks; record with --keep-captures",
                path);
  if (!recorded.trap_frame_layouts().empty()) {
    RINGSIDE_ASSIGN(set.entries, cases::parse_entries(recorded.trap_frame_layouts(),
                                                      captures.front().arch, path));
  }
  RingsideWalker walker(*set.images, {.entries = set.entries});
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
