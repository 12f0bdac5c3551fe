#include "importers/perf_data/head_lists.h"

#include "importers/perf_data/file_header.h"

namespace ringside::importers {

std::optional<PerfHeadLists> read_perf_head_lists(Bytes bytes) {
  if (perf_data::form_of(bytes) != perf_data::Form::kFile) return std::nullopt;
  const auto header = perf_data::read_file_header(bytes);
  if (!header || header->attributes.empty()) return std::nullopt;
  PerfHeadLists lists;
  for (const perf_data::Attribute& attribute : header->attributes.all()) {
    const bool has_frequency = attribute.has_frequency();
    lists.events.push_back({attribute.name, has_frequency ? attribute.period : 0,
                            has_frequency ? 0 : attribute.period});
  }
  for (const std::string& path : header->features.build_id_paths)
    lists.build_ids.push_back({header->features.build_ids.at(path), path});
  return lists;
}

}  // namespace ringside::importers
