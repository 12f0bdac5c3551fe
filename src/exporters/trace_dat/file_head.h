#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace ringside::exporters::trace_dat {

// All that stands before the events of processors. Each text is the one of a kernel's file.
struct HeadTexts {
  std::vector<std::string> ftrace_formats;  // of the system "ftrace"
  std::vector<std::string> formats;         // of the system "ringside"
  std::string kallsyms;
  std::string command_lines;
};

struct FileHead {
  std::string bytes;         // whole pages
  std::size_t table_at = 0;  // in them: a place and a size of 8 bytes for each processor
};

// The table is empty. Error kUnsupported: kallsyms is larger than the format can say.
[[nodiscard]] Result<FileHead> make_head(const HeadTexts& texts, const recording::Header& header,
                                         std::uint32_t processors);
// The table's bytes: buffers of these sizes stand one behind the other, from `start` on.
[[nodiscard]] std::string processor_table(std::span<const std::uint64_t> sizes,
                                          std::uint64_t start);

}  // namespace ringside::exporters::trace_dat
