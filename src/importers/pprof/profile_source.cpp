#include "importers/pprof/profile_source.h"

#include <limits>

#include "importers/parts/event_numbers.h"
#include "importers/pprof/value_units.h"

namespace ringside::importers::pprof {
namespace {

constexpr std::size_t kLongestName = 256;  // bytes

recording::ValueType value_type(const Messages& messages, const ValueTypeMessage& message) {
  const std::string_view name = messages.text(message.name).substr(0, kLongestName);
  return value_type_of(name.empty() ? "value" : name, messages.text(message.unit));
}

// 0 where it is negative.
std::uint64_t unsigned_time(std::uint64_t time) {
  return time > std::uint64_t{std::numeric_limits<std::int64_t>::max()} ? 0 : time;
}

}  // namespace

std::vector<std::size_t> columns_of(const Messages& messages) {
  const std::vector<ValueTypeMessage>& types = messages.types;
  if (types.empty()) return {};
  const std::string_view wanted = messages.text(messages.default_type);
  std::size_t first = types.size() - 1;
  for (std::size_t i = types.size(); i-- > 0 && !wanted.empty();)
    if (messages.text(types[i].name) == wanted) first = i;
  std::vector<std::size_t> columns = {first};
  for (std::size_t i = 0; i < types.size() && columns.size() < recording::kMostColumns; ++i)
    if (i != first) columns.push_back(i);
  return columns;
}

recording::Source source_of(const Messages& messages, const std::vector<std::size_t>& columns) {
  recording::Source source;
  source.name = messages.text(messages.period_type.name).substr(0, kLongestName);
  if (source.name.empty()) source.name = "pprof";
  source.clock = kEventNumbers;
  for (const std::size_t column : columns)
    source.values.push_back(value_type(messages, messages.types[column]));
  const recording::ValueType& first = source.values.front();
  source.kind = recording::SourceKind::kOther;
  if (first.unit == recording::WeightUnit::kBytes)
    source.kind = recording::SourceKind::kAllocations;
  // Ringside's own, of the one source that was exported.
  if (first.name == "ticks") source.kind = recording::SourceKind::kCpu;
  return source;
}

recording::Header header_of(const Messages& messages) {
  recording::Header header;
  header.engine = "pprof";
  header.start_wall_ns = unsigned_time(messages.time_ns);
  const recording::ValueType period = value_type(messages, messages.period_type);
  std::uint64_t interval = 0;
  if (period.unit == recording::WeightUnit::kNanoseconds &&
      !__builtin_mul_overflow(unsigned_time(messages.period), period.scale, &interval))
    header.interval_ns = interval;
  return header;
}

}  // namespace ringside::importers::pprof
