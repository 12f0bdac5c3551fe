#pragma once

#include "symbols/linux_image/linux_image.h"

namespace ringside::symbols {

// Fills in all that is optional in an image whose segments, symbols and text are known.
void find_linux_tables(LinuxImage& image);

}  // namespace ringside::symbols
