#pragma once

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

// Both ends are closed by exec.
[[nodiscard]] Result<Pipe> make_pipe();

}  // namespace ringside
