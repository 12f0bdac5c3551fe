#include "exporters/perf/perf_names.h"

#include <fmt/core.h>

#include <string_view>

#include "elf/image_map.h"
#include "profile/sanitize.h"
#include "recording/of_perf.h"

namespace ringside::exporters {

std::string event_of(const recording::Header& header, const recording::Source& source) {
  std::string name = profile::sanitize(source.name);
  const std::size_t mark = name.rfind('#');
  if (is_of_perf(header) && mark != std::string::npos && mark != 0 && mark + 1 < name.size() &&
      name.find_first_not_of("0123456789", mark + 1) == std::string::npos)
    name.resize(mark);
  return name;
}

std::string dso_name(const recording::ImageInfo& image) {
  constexpr std::string_view kJit = "[JIT] tid ";
  if (image.name == elf::kKernelImage) return "[kernel.kallsyms]";
  const std::string name = profile::sanitize(image.name);
  if (image.path.substr(image.path.rfind('/') + 1) == image.name && !image.path.empty())
    return profile::sanitize(image.path);
  if (name.starts_with(kJit)) return fmt::format("/tmp/perf-{}.map", name.substr(kJit.size()));
  return name;
}

}  // namespace ringside::exporters
