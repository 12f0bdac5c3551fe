#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "importers/format.h"

namespace ringside::app {

// A file that is read under another name than messages have.
struct InputFile {
  std::string name;
  std::string path;
  bool is_padded = false;  // zeros up to the end of a disk may stand behind its contents
};

// The path of an input. "-" is standard input, which is copied to a temporary file at the first
// call; that file is gone when ringside ends.
[[nodiscard]] Result<std::string> path_of_input(const std::string& input);

// Files as importers read them. They are mapped as long as their Inputs live. "-" is standard
// input. Compressed files are unpacked (unpacked_input.h).
[[nodiscard]] Result<std::vector<importers::Input>> open_inputs(
    const std::vector<std::string>& inputs);
// A text that is padded loses the zeros behind it. Binary formats have their own ends.
[[nodiscard]] Result<std::vector<importers::Input>> open_inputs(
    const std::vector<InputFile>& files);

}  // namespace ringside::app
