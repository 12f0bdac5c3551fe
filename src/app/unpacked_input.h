#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "importers/format.h"

namespace ringside::app {

// The content of an input that is compressed with gzip, bzip2, xz or zstd, as a file that is gone
// when nobody has it. Null for an input that is not compressed, or that an importer reads as it is,
// as pprof's. Errors: kFormat and kUnsupported, with the input's name.
[[nodiscard]] Result<std::shared_ptr<const MappedFile>> unpacked(const importers::Input& input);

}  // namespace ringside::app
