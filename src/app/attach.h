#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/qmp/connect.h"

namespace ringside::app {

// Connects to a gdb stub. Tries again for as long as `wait_while()` is true and nothing listens
// there yet.
[[nodiscard]] Result<std::unique_ptr<engines::Engine>> attach_gdb(
    const std::string& address, const engines::gdb::Options& options,
    const std::function<bool()>& wait_while);

// Connects to a QEMU's monitor, which opens a gdb stub in `folder` for the time where it can. Tries
// again as attach_gdb() does.
[[nodiscard]] Result<engines::qmp::Attachment> attach_qmp(const std::string& address,
                                                          const std::filesystem::path& folder,
                                                          const engines::qmp::Restraint& restraint,
                                                          const engines::gdb::Options& options,
                                                          const std::function<bool()>& wait_while);

// Takes the samples of the TCG plugin that shares the file `ring`; tries again for as long as
// `wait_while()` is true and the file is not there yet. `monitor`: QEMU's, or empty; not waited for
// once `is_over()` is true.
[[nodiscard]] Result<std::unique_ptr<engines::Engine>> attach_tcg(
    const std::filesystem::path& ring, const std::string& monitor,
    const std::function<bool()>& is_over, const std::function<bool()>& wait_while);

}  // namespace ringside::app
