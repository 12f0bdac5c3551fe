#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "importers/perf_script/header_line.h"
#include "importers/perf_script/script_text.h"

// Which blocks of the text are samples, and what most of them are of.
namespace ringside::importers::perf_script {

// Other records come with --show-mmap-events and the like, lost ones always: what stands behind
// "PERF_RECORD_" in the line of one.
[[nodiscard]] std::optional<std::string_view> other_record(const HeaderLine& header);

// Whether the first line is a frame's: some words begin with hexadecimal digits, too.
[[nodiscard]] bool begins_with_frame(std::string_view frames);

// Without a time it has to have a thread and an event, or frames. Where the stack is empty, the
// line of the thread or CPU, and an empty one, are all of it.
[[nodiscard]] bool is_sample(const HeaderLine& header, const ScriptText::Block& block);

struct Event {
  std::string_view name;  // as HeaderLine::event
  bool has_period = false;
  std::uint64_t samples = 0;
};
// That which most samples of the text's first 64 MB have; of several the first one.
[[nodiscard]] Event main_event(std::string_view text);

}  // namespace ringside::importers::perf_script
