#include "importers/pprof/location_frames.h"

namespace ringside::importers::pprof {
namespace {

constexpr std::size_t kMostFrames = 2 << 20;

}  // namespace

LocationFrames::LocationFrames(const Messages& messages, const Images& images,
                               const ImportOptions& options, recording::Writer& writer)
    : messages_(messages),
      images_(images),
      options_(options),
      writer_(writer),
      known_(messages.location_count()) {}

Result<LocationFrames::Frames> LocationFrames::of(std::size_t location) {
  Known& known = known_[location];
  if (!known.is_made) RINGSIDE_TRY(make(messages_.location(location), known));
  known.is_made = true;
  return Frames{std::span(frames_).subspan(known.first, known.count), known.is_kernel};
}

Result<void> LocationFrames::make(const LocationMessage& location, Known& known) {
  recording::RecordedFrame frame;
  frame.address = GuestVirt{location.address};
  frame.exact = true;  // an address of pprof is that of the call already
  const bool is_given = options_.is_kernel_code(frame.address);
  known.is_kernel = is_given;
  if (const Images::Place* const place = images_.find(location.mapping)) {
    frame.image = place->image;
    frame.mapping = place->mapping;
    known.is_kernel |= place->is_kernel;
  }
  known.first = static_cast<std::uint32_t>(frames_.size());
  if (!read_lines(location.message, lines_)) lines_.clear();
  const std::size_t count = std::max<std::size_t>(lines_.size(), 1);
  if (frames_.size() + count > kMostFrames) return {};
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const FunctionMessage* const function = messages_.function(lines_[i].function);
    if (function == nullptr) continue;
    RINGSIDE_ASSIGN(frame.function, name_of(*function));
    RINGSIDE_ASSIGN(frame.file, text_of(function->file));
    frame.line = lines_[i].line;
    frame.inlined = i + 1 < lines_.size();
    if (frame.function != 0) frames_.push_back(frame);
  }
  known.count = static_cast<std::uint32_t>(frames_.size()) - known.first;
  if (known.count != 0) return {};
  // The recording's own kernel gives it a name.
  if (is_given) frame.image = frame.mapping = 0;
  frame.function = frame.file = frame.line = 0;
  frame.inlined = false;
  frames_.push_back(frame);
  known.count = 1;
  return {};
}

Result<std::uint32_t> LocationFrames::name_of(const FunctionMessage& function) {
  const TextIndex index =
      messages_.text(function.name).empty() ? function.system_name : function.name;
  return text_of(index);
}

Result<std::uint32_t> LocationFrames::text_of(TextIndex index) {
  const std::string_view text = messages_.text(index);
  if (text.empty()) return 0;
  const auto [known, added] = texts_.try_emplace(index);
  if (added) {
    RINGSIDE_ASSIGN(known->second, writer_.add_text(text));
  }
  return known->second;
}

}  // namespace ringside::importers::pprof
