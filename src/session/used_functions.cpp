#include "session/used_functions.h"

#include <algorithm>

namespace ringside::session {
namespace {

constexpr std::size_t kAtOnce = 64;
// More than kernels have places that call or that are sampled.
constexpr std::size_t kMostSeen = 1u << 20;

}  // namespace

Result<void> UsedFunctions::record(const elf::Image& image, Known& known,
                                   const symbols::Symbol& symbol) {
  if (!known.recorded.insert(symbol.start.value).second) return {};
  recording::ImageFunction function;
  function.image = known.id;
  function.address = symbol.start;
  function.size = symbol.size;
  function.name = symbol.raw;
  function.in_file = image.file->is_on_disk() && !image.from_guest;
  return writer_->add_function(function);
}

Result<void> UsedFunctions::record_at(const elf::Image& image, Known& known, GuestVirt at) {
  const auto symbol = known.table.find(image.to_image(at));
  return symbol ? record(image, known, *symbol) : Result<void>();
}

Result<void> UsedFunctions::add(const elf::Image& image, std::uint32_t id) {
  Known& known = images_[&image];
  known.id = id;
  known.table = symbols::SymbolTable::from_elf(image.file);
  const auto& all = known.table.symbols();
  const std::size_t step = std::max<std::size_t>(all.size() / kAtOnce, 1);
  for (std::size_t n = 0; n < all.size(); n += step) RINGSIDE_TRY(record(image, known, all[n]));
  // Frames that were recorded before their image was found are in it, too.
  for (const Address& at : seen_) RINGSIDE_TRY(record_at(image, known, {at.key}));
  return {};
}

void UsedFunctions::forget_all_but(const elf::Image* kept) {
  seen_.clear();
  std::erase_if(images_, [kept](const auto& image) { return image.first != kept; });
}

Result<void> UsedFunctions::note(const Stack& stack, const elf::ImageMap& images) {
  if (seen_.size() >= kMostSeen) seen_.clear();
  for (const Frame& frame : stack.frames) {
    if (frame.image != 0) continue;  // of a program that is recorded with its names
    const GuestVirt at = frame.lookup_address();
    // User code has addresses without end. It may be in the kernel's own file.
    if (frame.kind == FrameKind::kUser && images.find_code(at) == nullptr) continue;
    const std::size_t seen = seen_.size();
    if (seen_.find_or_add(at.value) < seen) continue;
    const elf::Image* const image = images.find_code(at);
    const auto known = image == nullptr ? images_.end() : images_.find(image);
    if (known == images_.end()) continue;
    RINGSIDE_TRY(record_at(*image, known->second, at));
  }
  return {};
}

}  // namespace ringside::session
