#include "app/kept_captures.h"

#include <algorithm>
#include <unordered_map>

#include "kernel_image/open_elf.h"

namespace ringside::app {
namespace {

Result<void> add_image(const recording::ImageInfo& info, const cases::RecordedCaptures& captures,
                       const std::string& kernel, elf::ImageMap& images) {
  const bool overridden = info.name == elf::kKernelImage && !kernel.empty();
  const std::string& path = overridden ? kernel : info.path;
  const auto& stored = captures.image_files();
  if (const auto bytes = stored.find(info.id); path.empty() && bytes != stored.end()) {
    RINGSIDE_ASSIGN(auto file, elf::ElfFile::from_bytes(bytes->second, info.name));
    images.add({info.id, info.name, std::move(file), info.load_bias, true});
    return {};
  }
  if (path.empty()) return {};
  RINGSIDE_ASSIGN(auto file, kernel_image::open_elf(path));
  const Bytes build_id = file->build_id();
  if (!std::equal(build_id.begin(), build_id.end(), info.build_id.begin(), info.build_id.end()))
    return fail(ErrorCode::kMismatch,
                "{} is not the file that was recorded; give the right one with --kernel", path);
  images.add(
      {.id = info.id, .name = info.name, .file = std::move(file), .load_bias = info.load_bias});
  return {};
}

}  // namespace

Result<std::unique_ptr<KeptCaptures>> open_kept(const std::string& recording,
                                                const std::string& kernel) {
  RINGSIDE_ASSIGN(auto reader, recording::Reader::open(recording));
  auto kept = std::make_unique<KeptCaptures>(KeptCaptures{std::move(reader), {}, {}, {}});
  RINGSIDE_TRY(kept->reader.for_each(kept->captures));
  if (kept->captures.entries().empty())
    return fail(ErrorCode::kNotFound, "{} holds no captures; record with --keep-captures",
                recording);
  if (kept->captures.has_several_epochs())
    return fail(
        ErrorCode::kUnsupported,
        "{}: the guest has booted again while it was recorded; cases are made of recordings "
        "of one boot",
        recording);
  for (const recording::ImageInfo& info : kept->captures.images())
    RINGSIDE_TRY(add_image(info, kept->captures, kernel, kept->images));
  kept->trap_frame_layouts = kept->captures.trap_frame_layouts();
  return kept;
}

std::vector<cases::Candidate> candidates_of(const KeptCaptures& kept) {
  cases::Replayer names(kept.images, {});
  std::unordered_map<std::uint64_t, std::string> known;
  std::vector<cases::Candidate> candidates;
  for (const auto& entry : kept.captures.entries()) {
    cases::Candidate candidate;
    candidate.number = candidates.size();
    candidate.stop = entry.stack.stop;
    for (const recording::RecordedFrame& frame : kept.captures.frames_of(entry)) {
      const auto [name, added] = known.try_emplace(frame.lookup_address().value);
      if (added) name->second = names.name_of(frame.lookup_address());
      candidate.functions.push_back(name->second);
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace ringside::app
