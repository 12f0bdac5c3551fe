#pragma once

#include <string>
#include <string_view>

#include "exporters/perf/script_options.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters {

// The frames of perf script's text: "ffffffff81001234 schedule+0x12 (dso)", by the fields of the
// options.
class ScriptFrames {
 public:
  // Both outlive it.
  ScriptFrames(const profile::Profile& profile, const ScriptOptions& options)
      : profile_(profile), options_(options) {}

  // A line for each inlined function, innermost first, then one for the function that has the
  // code. Each begins with a tab.
  [[nodiscard]] std::string lines(const profile::DetailedFrame& frame) const;
  // The function that has the code, without a tab and an end.
  [[nodiscard]] std::string in_line(const profile::DetailedFrame& frame) const;
  // Whether one of the frame's functions, inlined or not, is one of ScriptOptions::symbols.
  [[nodiscard]] bool is_chosen(const profile::DetailedFrame& frame) const;

 private:
  [[nodiscard]] bool has(ScriptField field) const { return options_.fields.has(field); }
  // An importer may have recorded an inlined function as a frame of its own.
  [[nodiscard]] bool is_inlined(const profile::DetailedFrame& frame) const {
    return profile_.frames[frame.functions.front()].inlined;
  }
  [[nodiscard]] std::string inlined_line(const profile::DetailedFrame& frame,
                                         std::size_t function) const;
  [[nodiscard]] std::string_view name_of(const profile::DetailedFrame& frame) const;
  // On a line of its own; empty where it is not known.
  [[nodiscard]] std::string source_line(const profile::DetailedFrame& frame,
                                        std::size_t function) const;

  const profile::Profile& profile_;
  const ScriptOptions& options_;
};

}  // namespace ringside::exporters
