#include "exporters/json_lines_head.h"

#include <fmt/ranges.h>

#include "arch/arch_info.h"
#include "base/text.h"
#include "exporters/parts/json_text.h"
#include "formats/json_lines.h"

namespace ringside::exporters {
namespace {

namespace words = formats::json_lines;

template <class Words, class Enum>
std::string_view word(const Words& words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}

// A member with a comma in front; empty where the text is.
std::string member(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format(",\"{}\":{}", name, json_string(text));
}

std::string member(std::string_view name, std::uint64_t number) {
  return number == 0 ? "" : fmt::format(",\"{}\":{}", name, number);
}

}  // namespace

void SharedNames::add(std::string_view name) {
  if (!all_.emplace(name).second) shared_.emplace(name);
}

std::string SharedNames::number(std::string_view member, std::string_view name,
                                std::uint32_t id) const {
  return shared_.contains(name) ? fmt::format(",\"{}\":{}", member, id) : "";
}

std::string header_line(const recording::Header& header) {
  std::vector<std::string> command;
  for (const std::string& argument : header.command_line) command.push_back(json_string(argument));
  return fmt::format(
      R"({{"arch":"{}","guest_os":{},"kernel":{},"engine":{},"interval_ns":{},"vcpus":{}{}{}{}{}{}{}{}{}}})",
      arch::name_of(header.arch), json_string(header.guest_os), json_string(header.kernel),
      json_string(header.engine), header.interval_ns, header.vcpu_count,
      member("start_wall_ns", header.start_wall_ns),
      member("start_monotonic_ns", header.start_monotonic_ns), member("host", header.host),
      member("qemu", header.qemu_version), member("kernel_release", header.kernel_release),
      member("kernel_build_id", hex_text(header.kernel_build_id)),
      header.deterministic_seed
          ? fmt::format(",\"deterministic_seed\":{}", *header.deterministic_seed)
          : "",
      command.empty() ? "" : fmt::format(",\"command_line\":[{}]", fmt::join(command, ",")));
}

std::string source_line(const recording::Source& source,
                        const std::map<std::uint32_t, recording::Clock>& clocks,
                        const LineNames& names) {
  static_assert(words::kSourceKinds.size() ==
                static_cast<std::size_t>(recording::kLastSourceKind) + 1);
  static_assert(words::kClockKinds.size() ==
                static_cast<std::size_t>(recording::kLastClockKind) + 1);
  std::string values;
  for (const recording::ValueType& value : source.values)
    values += fmt::format(R"({}{{"name":{},"unit":"{}"}})", values.empty() ? "" : ",",
                          json_string(value.name), recording::name_of(value.unit));
  const auto clock = clocks.find(source.clock);
  const std::string of_clock =
      clock == clocks.end() ? ""
                            : fmt::format(R"(,"clock":{{"id":{},"kind":"{}"{}{}}})", source.clock,
                                          word(words::kClockKinds, clock->second.kind),
                                          member("name", clock->second.name),
                                          member("frequency", clock->second.frequency));
  return fmt::format(R"({{"source_type":{}{},"kind":"{}"{}{}{},"value_types":[{}]}})",
                     json_string(source.name), names.sources.number("id", source.name, source.id),
                     word(words::kSourceKinds, source.kind), member("period", source.period),
                     member("engine", source.engine), of_clock, values);
}

std::string event_type_line(const recording::EventType& type, const recording::Source& source,
                            const LineNames& names) {
  static_assert(words::kFieldTypes.size() ==
                static_cast<std::size_t>(recording::kLastFieldType) + 1);
  std::string fields;
  for (const recording::EventField& field : type.fields)
    fields += fmt::format(R"({}{{"name":{},"type":"{}","unit":"{}"}})", fields.empty() ? "" : ",",
                          json_string(field.name), word(words::kFieldTypes, field.type),
                          recording::name_of(field.unit));
  return fmt::format(R"({{"event_type":{}{},"source":{}{},"field_types":[{}]}})",
                     json_string(type.name), names.event_types.number("id", type.name, type.id),
                     json_string(source.name),
                     names.sources.number("source_id", source.name, source.id), fields);
}

std::string image_line(const recording::ImageInfo& image, const LineNames& names) {
  return fmt::format(
      R"({{"image":{}{},"path":{},"load_bias":"{:#x}"{}{}{}{}}})", json_string(image.name),
      names.images.number("id", image.name, image.id), json_string(image.path), image.load_bias,
      member("build_id", hex_text(image.build_id)),
      image.code_hash == 0 ? "" : fmt::format(",\"code_hash\":\"{:#x}\"", image.code_hash),
      member("size", image.size),
      image.arch == Arch::kUnknown ? "" : member("arch", arch::name_of(image.arch)));
}

}  // namespace ringside::exporters
