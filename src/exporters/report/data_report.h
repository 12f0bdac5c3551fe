#pragma once

#include "exporters/report/text_report.h"
#include "exporters/sink.h"
#include "profile/profile.h"

namespace ringside::exporters {

// `report --format csv`: a line of column names, then one line a row (RFC 4180, in UTF-8). Weights
// are in the profile's unit, percentages are of all that was sampled. Rows that the limits leave
// out are one last line. One table: `options.overhead.per_vcpu` is not looked at.
[[nodiscard]] Result<void> write_csv_report(const profile::Profile& profile,
                                            const ReportOptions& options, Sink& sink);

// `report --format json`: docs/report.schema.json is the contract. A table of all vCPUs, and those
// of single ones where `options` say so; the counts of the whole recording; warnings.
[[nodiscard]] Result<void> write_json_report(const profile::Profile& profile,
                                             const ReportOptions& options, Sink& sink);

}  // namespace ringside::exporters
