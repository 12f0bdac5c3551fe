#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace ringside {

// The mode that a new file or folder gets which asks for `wanted`: what makes temporary ones makes
// them private.
[[nodiscard]] inline mode_t creation_mode(mode_t wanted) {
  const mode_t mask = ::umask(0);  // there is no other way to read it
  ::umask(mask);
  return wanted & ~mask;
}

}  // namespace ringside
