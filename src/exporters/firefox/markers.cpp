#include "exporters/firefox/markers.h"

#include "exporters/parts/event_fields.h"

namespace ringside::exporters::firefox {
namespace {

constexpr int kInstant = 0;
constexpr int kInterval = 1;

void write_phases(JsonText& json, std::span<const Marker> markers, const SampleColumns* columns) {
  const std::size_t own = markers.size();
  const std::size_t count = own + (columns == nullptr ? 0 : columns->events().size());
  const auto start = [&](std::size_t i) {
    if (i < own) return markers[i].start_ns;
    const EventRows& events = columns->events();
    return columns->time_ns(events.sources[i - own], events.times[i - own]);
  };
  const auto end = [&](std::size_t i) {
    if (i < own) return markers[i].end_ns;
    const EventRows& events = columns->events();
    const std::uint64_t end_time = events.times[i - own] + events.durations[i - own];
    return columns->time_ns(events.sources[i - own], end_time);
  };
  json.column("startTime", count, [&](std::size_t i) { json.add_text(milliseconds(start(i))); });
  json.column("endTime", count, [&](std::size_t i) {
    json.add_text(end(i) > start(i) ? milliseconds(end(i)) : "null");
  });
  json.column("phase", count,
              [&](std::size_t i) { json.add("{}", end(i) > start(i) ? kInterval : kInstant); });
  json.constant("category", count, "0");
  json.add("\"length\":{}}}", count);
}

void write_names(JsonText& json, StackTables& tables, std::span<const Marker> markers,
                 const SampleColumns* columns) {
  std::vector<profile::StringId> names;
  if (columns != nullptr)
    for (const recording::EventType& type : columns->event_types())
      names.push_back(tables.string(type.name));
  const std::size_t own = markers.size();
  const std::size_t count = own + (columns == nullptr ? 0 : columns->events().size());
  json.column("name", count, [&](std::size_t i) {
    json.add("{}",
             i < own ? tables.string(markers[i].name) : names[columns->events().types[i - own]]);
  });
}

// Writes the fields of events, one JSON object each, with commas in front.
class FieldWriter final : public profile::SampleReceiver {
 public:
  FieldWriter(JsonText& json, StackTables& tables, const SampleColumns& columns,
              profile::DetailedProfile& profile, bool is_first)
      : json_(json), tables_(tables), columns_(columns), profile_(profile), is_first_(is_first) {}

  void sample(const profile::TimedSample&) override {}
  void event(const profile::TimedSample& sample, const profile::TimedEvent& event) override {
    json_.add(R"({}{{"type":"event-{}")", is_first_ ? "" : ",", columns_.type_index(event.type.id));
    is_first_ = false;
    const profile::Owner& owner = profile_.owner_of(sample.group);
    if (owner.disposition == wire::Disposition::kSampled)
      json_.add(R"(,"cause":{{"time":{},"stack":{}}})",
                milliseconds(columns_.time_ns(sample.source, sample.time)),
                tables_.stack_of(sample.group));
    if (owner.vcpu != recording::kNoVcpu) json_.add(R"(,"vcpu":{})", owner.vcpu.value);
    if (owner.comm != 0 || owner.tid)
      json_.add(R"(,"thread":{})",
                json_string(fmt::format("{} {}", profile_.profile().strings[owner.comm],
                                        owner.tid.value_or(owner.pid.value_or(0)))));
    for (std::size_t i = 0; i < event.type.fields.size(); ++i)
      json_.add(R"(,"f{}":{})", i, field(event, i));
    json_.add_text("}");
  }

 private:
  // The page shows no null.
  std::string field(const profile::TimedEvent& event, std::size_t index) {
    std::string value = event_field(profile_, event, index);
    return value == "null" ? "\"\"" : value;
  }

  JsonText& json_;
  StackTables& tables_;
  const SampleColumns& columns_;
  profile::DetailedProfile& profile_;
  bool is_first_;
};

const char* format_of(const recording::EventField& field) {
  if (field.type != recording::FieldType::kInteger) return "string";
  switch (field.unit) {
    case recording::WeightUnit::kNanoseconds:
      return "nanoseconds";
    case recording::WeightUnit::kBytes:
      return "bytes";
    default:
      return "integer";
  }
}

// Braces in a label stand for fields.
std::string label_text(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == '{' || c == '}'; });
  return plain;
}

void write_event_schema(JsonText& json, std::size_t index, const recording::EventType& type) {
  std::string fields = R"({"key":"thread","label":"Thread","format":"string"},)"
                       R"({"key":"vcpu","label":"vCPU","format":"integer"})";
  std::string summary;
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    fields += fmt::format(R"(,{{"key":"f{}","label":{},"format":"{}"}})", i,
                          json_string(type.fields[i].name), format_of(type.fields[i]));
    summary += fmt::format("{}{}={{marker.data.f{}}}", i == 0 ? "" : " ",
                           label_text(type.fields[i].name), i);
  }
  json.add(
      R"(,{{"name":"event-{}","tooltipLabel":"{{marker.name}}","tableLabel":{},"chartLabel":{},)"
      R"("display":["marker-chart","marker-table","timeline-overview"],"fields":[{}]}})",
      index, json_string(summary), json_string(summary), fields);
}

}  // namespace

std::string milliseconds(std::uint64_t ns) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  if (ns % kMillisecond == 0) return fmt::format("{}", ns / kMillisecond);
  std::string text = fmt::format("{}.{:06}", ns / kMillisecond, ns % kMillisecond);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

void write_markers(JsonText& json, StackTables& tables, std::span<const Marker> markers) {
  json.add_text("\"markers\":{");
  json.column("data", markers.size(), [&](std::size_t i) { json.add_text(markers[i].data); });
  write_names(json, tables, markers, nullptr);
  write_phases(json, markers, nullptr);
}

Result<void> write_event_markers(JsonText& json, StackTables& tables,
                                 std::span<const Marker> markers, const SampleColumns& columns,
                                 profile::DetailedProfile& profile) {
  json.add_text("\"markers\":{\"data\":[");
  for (std::size_t i = 0; i < markers.size(); ++i)
    json.add("{}{}", i == 0 ? "" : ",", markers[i].data);
  if (columns.events().size() != 0) {
    FieldWriter fields(json, tables, columns, profile, markers.empty());
    RINGSIDE_TRY(profile.for_each(fields));
  }
  json.add_text("],");
  write_names(json, tables, markers, &columns);
  write_phases(json, markers, &columns);
  return {};
}

void write_marker_schemas(JsonText& json, std::span<const recording::EventType> types) {
  json.add_text(
      R"("markerSchema":[)"
      R"({"name":"note","tooltipLabel":"{marker.name}","tableLabel":"{marker.data.text}",)"
      R"("chartLabel":"{marker.data.text}","display":["marker-chart","marker-table"],)"
      R"("fields":[{"key":"text","label":"Text","format":"string"}]},)"
      R"({"name":"ticks","tooltipLabel":"{marker.name}",)"
      R"("tableLabel":"{marker.data.ticks} ticks","chartLabel":"{marker.data.ticks} ticks",)"
      R"("display":["marker-chart","marker-table","timeline-overview"],)"
      R"("fields":[{"key":"ticks","label":"Ticks","format":"integer"}]},)"
      R"({"name":"pause","tooltipLabel":"{marker.name}",)"
      R"("display":["marker-chart","marker-table","timeline-overview"],)"
      R"("fields":[{"key":"pause","label":"Guest stood still","format":"nanoseconds"}]})");
  for (std::size_t i = 0; i < types.size(); ++i) write_event_schema(json, i, types[i]);
  json.add_text("],");
}

std::vector<Marker> notes(const profile::Profile& profile, std::span<const Pause> pauses) {
  std::vector<Marker> markers;
  const auto add = [&](const char* name, std::string_view text) {
    markers.push_back(
        {name, 0, 0, fmt::format(R"({{"type":"note","text":{}}})", json_string(text))});
  };
  for (const std::string& warning : profile.warnings) add("warning", warning);
  if (!profile.damage.empty()) add("damage", profile.damage);
  for (const std::string& text : profile.left_out) add("left out", text);
  for (const Pause& pause : pauses)
    markers.push_back({"pause", pause.time_ns, pause.time_ns + pause.duration_ns,
                       fmt::format(R"({{"type":"pause","pause":{}}})", pause.duration_ns)});
  return markers;
}

}  // namespace ringside::exporters::firefox
