#include "exporters/parts/event_fields.h"

#include <fmt/core.h>

#include "base/text.h"
#include "exporters/parts/json_text.h"

namespace ringside::exporters {

std::string_view symbol_name(profile::DetailedProfile& profile, std::int64_t number) {
  if (number == 0) return {};
  return profile.profile().name(
      profile.frame({static_cast<std::uint32_t>(number), false, false}).functions.front());
}

std::string event_field(profile::DetailedProfile& profile, const profile::TimedEvent& event,
                        std::size_t field) {
  using recording::FieldType;
  const recording::EventColumn& column = event.batch.fields[field];
  const std::int64_t number = column.number(event.row);
  switch (event.type.fields[field].type) {
    case FieldType::kInteger:
      break;
    case FieldType::kAddress:
      return fmt::format(R"("{:#x}")", static_cast<std::uint64_t>(number));
    case FieldType::kText:
      return json_string(profile.text(static_cast<std::uint32_t>(number)));
    case FieldType::kBytes: {
      const std::string_view bytes = column.bytes_at(event.row);
      return json_quoted(hex_text(std::as_bytes(std::span(bytes))));
    }
    case FieldType::kSymbol:
      if (number == 0) return "null";
      return json_quoted(symbol_name(profile, number));
  }
  return fmt::format("{}", number);
}

std::string event_fields(profile::DetailedProfile& profile, const profile::TimedEvent& event) {
  std::string members;
  for (std::size_t i = 0; i < event.type.fields.size(); ++i)
    members += fmt::format("{}{}:{}", i == 0 ? "" : ",", json_string(event.type.fields[i].name),
                           event_field(profile, event, i));
  return members;
}

}  // namespace ringside::exporters
