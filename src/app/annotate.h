#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "annotation/annotated_function.h"
#include "annotation/disassembler.h"
#include "app/open_profile.h"
#include "base/result.h"

namespace ringside::app {

// A request for `annotate`.
struct AnnotateRequest {
  ReaderSettings settings;
  std::string function;            // as annotation::choose_functions() takes it
  std::size_t most_functions = 0;  // 0: all
  std::vector<std::string> source_folders;
  annotation::Syntax syntax = annotation::Syntax::kAtt;
};

// Reads a recording and puts the samples of functions to their instructions and source lines. Says
// on standard error what is missing. Error kUnsupported: the input has no addresses.
[[nodiscard]] Result<annotation::Annotation> annotate(const AnnotateRequest& request);

}  // namespace ringside::app
