#include "app/input_lists.h"

#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "app/input_files.h"
#include "base/file.h"
#include "base/text.h"
#include "exporters/perf/perf_lists.h"
#include "importers/perf_data/head_lists.h"

namespace ringside::app {
namespace {

using importers::PerfHeadLists;

// Nothing where the input is not one file of perf's.
Result<std::optional<PerfHeadLists>> head_lists(const ReaderSettings& settings) {
  std::error_code ignored;
  if (settings.inputs.size() != 1) return std::nullopt;
  RINGSIDE_ASSIGN(const std::string path, path_of_input(settings.input()));
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  RINGSIDE_ASSIGN(const auto file, MappedFile::open(path));
  return importers::read_perf_head_lists(file->bytes());
}

Result<void> write_events(const PerfHeadLists& lists, bool detail, exporters::Sink& sink) {
  for (const PerfHeadLists::Event& event : lists.events) {
    std::string line = printable_line(event.name);
    if (detail && event.frequency != 0) line += fmt::format(": sample_freq={}", event.frequency);
    if (detail && event.frequency == 0) line += fmt::format(": sample_period={}", event.period);
    RINGSIDE_TRY(sink.write(line + "\n"));
  }
  return {};
}

Result<void> write_build_ids(const PerfHeadLists& lists, exporters::Sink& sink) {
  for (const PerfHeadLists::BuildId& each : lists.build_ids)
    RINGSIDE_TRY(sink.write(exporters::build_id_line(each.id, printable_line(each.path))));
  return {};
}

}  // namespace

Result<void> write_input_list(const ReaderSettings& settings, InputList list, bool detail,
                              exporters::Sink& sink) {
  const bool is_of_events = list == InputList::kEvents;
  if (settings.filters())
    return fail(ErrorCode::kUsage,
                "{} is of the whole input: -k, -u, -C, --cpu-mask, --comm, --pid, --tid, --source, "
                "--value and --time do not go with it",
                is_of_events ? "--events" : "--build-ids");
  RINGSIDE_ASSIGN(const auto lists, head_lists(settings));
  if (lists && is_of_events) return write_events(*lists, detail, sink);
  if (lists && !lists->build_ids.empty()) return write_build_ids(*lists, sink);
  RINGSIDE_ASSIGN(auto opened, open_recording(settings));
  say_damage(opened.reader);
  return is_of_events ? exporters::write_event_list(opened.reader, detail, sink)
                      : exporters::write_build_ids(opened.reader, sink);
}

}  // namespace ringside::app
