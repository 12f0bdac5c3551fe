#include "exporters/firefox/profile_info.h"

#include "arch/arch_info.h"
#include "exporters/firefox/categories.h"
#include "exporters/firefox/markers.h"
#include "views/summary.h"

namespace ringside::exporters::firefox {
namespace {

constexpr int kProcessedVersion = 66;
constexpr int kGeckoVersion =
    30;  // of the format that Firefox itself writes; nothing depends on it

void write_categories(JsonText& json) {
  json.add_text("\"categories\":[");
  for (std::size_t i = 0; i < kCategories.size(); ++i)
    json.add(R"({}{{"name":"{}","color":"{}","subcategories":["Other"]}})", i == 0 ? "" : ",",
             kCategories[i].name, kCategories[i].colour);
  json.add_text("],");
}

std::string entry(std::string_view label, const char* format, const std::string& value) {
  return fmt::format(R"({{"label":{},"format":"{}","value":{}}})", json_string(label), format,
                     value);
}
std::string text_entry(std::string_view label, std::string_view text) {
  return "," + entry(label, "string", json_string(text));
}
std::string count_entry(std::string_view label, std::uint64_t count) {
  return "," + entry(label, "integer", fmt::format("{}", count));
}

// All counts are of the whole recording, before filters.
std::string sampling(const profile::Profile& profile) {
  using wire::Disposition;
  const recording::SampleStatistics& totals = profile.totals;
  const auto count = [&](Disposition disposition) {
    return totals.count[static_cast<std::size_t>(disposition)];
  };
  std::string text = entry("Sampled", "integer", fmt::format("{}", count(Disposition::kSampled))) +
                     count_entry("Idle", count(Disposition::kIdle)) +
                     count_entry("Skipped", count(Disposition::kSkipped)) +
                     count_entry("Failed", count(Disposition::kFailed));
  if (profile.recorded) {
    text += count_entry("Ticks of vCPUs due", profile.recorded->due) +
            count_entry("Lost", profile.recorded->lost);
    for (const auto& [name, number] : profile.recorded->counters)
      if (name.starts_with(recording::kLostByPrefix))
        text += count_entry("Lost: " + std::string(recording::lost_because(name)), number);
  }
  text += count_entry("Left out by filters", profile.filtered_samples);
  return text + "," +
         entry("Guest stood still", "nanoseconds",
               fmt::format("{}", views::make_summary(profile).stood_still_ns));
}

void write_extra(JsonText& json, const profile::Profile& profile) {
  const recording::Header& header = profile.header;
  json.add(R"("extra":[{{"label":"Recording","entries":[{}{}{}{}{}{}]}},)",
           entry("Kernel", "string", json_string(header.kernel)),
           text_entry("Guest", header.guest_os), text_entry("Engine", header.engine),
           text_entry("QEMU", header.qemu_version), text_entry("Host", header.host),
           text_entry("Source", profile.source));
  json.add(R"({{"label":"Sampling","entries":[{}]}}],)", sampling(profile));
}

}  // namespace

void write_profile_info(JsonText& json, const profile::Profile& profile,
                        std::span<const recording::EventType> types, std::uint64_t end_ns,
                        std::span<const std::uint32_t> visible) {
  const recording::Header& header = profile.header;
  json.add(R"("meta":{{"version":{},"preprocessedProfileVersion":{},"product":"ringside",)",
           kGeckoVersion, kProcessedVersion);
  json.add(R"("startTime":{},"interval":{},"processType":0,"stackwalk":1,)",
           milliseconds(header.start_wall_ns),
           header.interval_ns == 0 ? "1" : milliseconds(header.interval_ns));
  json.add(R"("debug":false,"misc":{},"oscpu":{},"platform":{},"logicalCPUs":{},)",
           json_string(header.ringside_version),
           json_string(fmt::format("{} {}", header.guest_os, arch::name_of(header.arch))),
           json_string(header.kernel), header.vcpu_count);
  json.add(R"("profilingStartTime":0,"profilingEndTime":{},)", milliseconds(end_ns));
  std::string arguments;
  for (const std::string& word : header.command_line)
    arguments += (arguments.empty() ? "" : " ") + word;
  if (!arguments.empty()) json.add(R"("arguments":{},)", json_string(arguments));
  write_categories(json);
  write_marker_schemas(json, types);
  write_extra(json, profile);
  json.column("initialVisibleThreads", visible.size(),
              [&](std::size_t i) { json.add("{}", visible[i]); });
  if (!visible.empty()) json.add(R"("initialSelectedThreads":[{}],)", visible.front());
  json.add_text(R"("keepProfileThreadOrder":true,"usesOnlyOneStackType":true,)"
                R"("sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"},)"
                R"("sourceCodeIsNotOnSearchfox":true,"symbolicated":true,)"
                R"("symbolicationNotSupported":true},)");
}

}  // namespace ringside::exporters::firefox
