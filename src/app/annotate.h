#pragma once

#include <cstddef>
#include <memory>
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
  bool kernel_has_sources = false;  // beside settings.kernel: the user has typed it
  annotation::Syntax syntax = annotation::Syntax::kAtt;
};

// A recording whose samples are put to the instructions and source lines of functions.
class AnnotatedRecording {
 public:
  // Reads the recording. Says on standard error what is damaged. Error kUnsupported: the input has
  // no addresses.
  [[nodiscard]] static Result<std::unique_ptr<AnnotatedRecording>> open(
      const AnnotateRequest& request);
  ~AnnotatedRecording();

  // Valid as long as this.
  [[nodiscard]] const annotation::Annotation& annotation() const;
  // Says on standard error what names and files are missing, of the functions that were made.
  void say_missing() const;

 private:
  struct Parts;
  explicit AnnotatedRecording(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ringside::app
