#include "exporters/report/text_report.h"

#include <optional>
#include <string>

#include "base/run_both.h"
#include "base/scheduling.h"
#include "exporters/counts_in_words.h"
#include "exporters/held_text.h"
#include "exporters/report/report_head.h"
#include "exporters/report/report_table.h"

namespace ringside::exporters {
namespace {

using profile::Profile;
using views::OverheadSection;

Result<void> write_rows(const Profile& profile, const OverheadSection& section,
                        const ReportOptions& options, Sink& sink) {
  if (section.rows.empty())
    return sink.write(section.samples == 0
                          ? "# Nothing was running.\n\n"
                          : "# No sample has a function that --parent looks for.\n\n");
  std::optional<views::RowTrees> trees;
  if (options.call_graph && !section.vcpu)
    trees.emplace(profile, options.overhead, section, options.trees);
  return write_table(profile, section, options, trees ? &*trees : nullptr, sink);
}

Result<void> write_all(const Profile& profile, const OverheadSection& section,
                       const ReportOptions& options, Sink& sink) {
  RINGSIDE_TRY(write_report_head(profile, section, sink));
  return write_rows(profile, section, options, sink);
}

Result<void> write_vcpus(const Profile& profile, const std::vector<OverheadSection>& sections,
                         const ReportOptions& options, Sink& sink) {
  for (const OverheadSection& section : sections) {
    const std::string whose = section.vcpu == recording::kNoVcpu
                                  ? "On no vCPU"
                                  : fmt::format("vCPU {}", section.vcpu->value);
    RINGSIDE_TRY(
        sink.write(fmt::format("# {}: {}\n#\n", whose, counts_in_words(profile, section))));
    RINGSIDE_TRY(write_rows(profile, section, options, sink));
  }
  return {};
}

}  // namespace

// Where there is a second processor, the text of the vCPUs is made while that of all is written.
Result<void> write_report(const Profile& profile, const ReportOptions& options, Sink& sink) {
  constexpr std::size_t kMostHeld = 64 << 20;  // bytes
  const views::OverheadTable table = views::make_overhead(profile, options.overhead);
  // One vCPU would only say the same again.
  if (table.per_vcpu.size() < 2) return write_all(profile, table.all, options, sink);
  Result<void> all;
  HeldText held(processors() > 1 ? kMostHeld : 0);
  run_both([&] { all = write_all(profile, table.all, options, sink); },
           [&] { (void)write_vcpus(profile, table.per_vcpu, options, held); });
  RINGSIDE_TRY(all);
  return held.is_full() ? write_vcpus(profile, table.per_vcpu, options, sink) : held.write_to(sink);
}

}  // namespace ringside::exporters
