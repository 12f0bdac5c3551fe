#include "importers/speedscope/file_stacks.h"

namespace ringside::importers::speedscope {
namespace {

constexpr std::size_t kMostImages = 1 << 16;

// Whether a frame's file is a program or library, as perf's are, and not a source file.
bool is_image(std::string_view file) {
  if (file.starts_with('[')) return true;
  const std::string_view base = file.substr(file.find_last_of("/\\") + 1);
  for (const std::string_view part : {".so", ".ko", ".dll", ".exe", ".dylib"})
    if (base.find(part) != std::string_view::npos) return true;
  return base.find('.') == std::string_view::npos;
}

}  // namespace

Result<recording::RecordedFrame> FileStacks::make_frame(std::uint32_t index,
                                                        recording::Writer& writer) {
  recording::RecordedFrame frame;
  frame.exact = true;
  frame.kind = FrameKind::kCode;
  RINGSIDE_ASSIGN(frame.function, writer.add_text(file_.frame_names[index]));
  const std::string_view file = file_.frame_files[index];
  if (file.empty()) return frame;
  frame.line = file_.frame_lines[index];
  frame.inlined = frame.line == 0 && file == "inlined";
  if (frame.inlined || file == "[unknown]") return frame;
  if (frame.line == 0 && is_image(file) && images_.size() < kMostImages) {
    RINGSIDE_ASSIGN(frame.image, image_of(std::string(file), writer));
  } else {
    RINGSIDE_ASSIGN(frame.file, writer.add_text(file));
  }
  return frame;
}

Result<std::uint32_t> FileStacks::image_of(const std::string& path, recording::Writer& writer) {
  const auto [entry, added] = images_.try_emplace(path, 0);
  if (!added) return entry->second;
  recording::ImageInfo image;
  image.name = path.starts_with('[') ? path : path.substr(path.find_last_of("/\\") + 1);
  image.path = image.name == path ? "" : path;
  RINGSIDE_ASSIGN(entry->second, writer.add_image(image));
  return entry->second;
}

}  // namespace ringside::importers::speedscope
