#pragma once

#include <string>

namespace ringside::app {

// A sentence for each QEMU of this user that runs, the newest first, each behind a full stop: the
// command of `verb` that attaches to where it listens. Empty: none runs.
[[nodiscard]] std::string running_qemus_in_words(const std::string& verb);

}  // namespace ringside::app
