#pragma once

#include "elf/image_map.h"
#include "guestos/process_updates.h"
#include "recording/writer.h"

namespace ringside::session {

// An image and where its code stands, and with them what is needed to name its functions and is in
// no file on disk.
[[nodiscard]] Result<void> write_image(const elf::Image& image, recording::Writer& writer);

// The same of a program or library, whose frames have linked addresses: it has no mappings. Returns
// its number.
[[nodiscard]] Result<std::uint32_t> write_user_image(const guestos::UserImage& image,
                                                     recording::Writer& writer);

}  // namespace ringside::session
