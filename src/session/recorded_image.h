#pragma once

#include "elf/image_map.h"
#include "guestos/process_updates.h"
#include "recording/writer.h"

namespace ringside::session {

// How an image's functions get into a recording.
enum class RecordedNames {
  kAll,   // with the image: those of its file for when that is gone, or the file itself
  kUsed,  // later, one by one (UsedFunctions); an image without symbols is recorded as it is
};

// An image and where its code stands. Returns its number.
[[nodiscard]] Result<std::uint32_t> write_image(const elf::Image& image, RecordedNames names,
                                                recording::Writer& writer);

// Where the code of an image stands that has the number `id`, once more: in a new epoch.
[[nodiscard]] Result<void> write_mappings(const elf::Image& image, std::uint32_t id,
                                          recording::Writer& writer);

// The same as write_image() of a program or library, whose frames have linked addresses: it has no
// mappings. Returns its number.
[[nodiscard]] Result<std::uint32_t> write_user_image(const guestos::UserImage& image,
                                                     recording::Writer& writer);

}  // namespace ringside::session
