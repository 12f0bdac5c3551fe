#pragma once

namespace ringside::cli {

// The whole program. Returns the exit status: 0 done, 1 the operation failed, 2 wrong usage.
int run(int argc, char** argv);

}  // namespace ringside::cli
