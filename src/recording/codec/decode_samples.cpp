#include <algorithm>

#include "recording/codec/columns.h"
#include "recording/codec/decode.h"
#include "recording/codec/decode_field.h"
#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

// The eight bits of `traits` from `shift` on.
template <class Enum>
Enum bits_of(std::uint64_t traits, unsigned shift, Enum last, Enum otherwise) {
  const std::uint64_t value = traits >> shift & 0xff;
  return value <= static_cast<std::uint64_t>(last) ? static_cast<Enum>(value) : otherwise;
}

std::optional<std::uint32_t> minus_one(std::uint64_t value) {
  if (value == 0) return std::nullopt;
  return static_cast<std::uint32_t>(value - 1);
}

std::uint32_t small(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

ValueType decode_value_type(pbf_reader message) {
  namespace f = fields::value_type;
  ValueType type;
  while (message.next()) switch (message.tag()) {
      case f::kName:
        type.name = get_text(message);
        break;
      case f::kUnit:
        type.unit = get_enum(message, kLastWeightUnit, WeightUnit::kCount);
        break;
      case f::kScale:
        type.scale = get_number(message);
        break;
      default:
        message.skip();
    }
  return type;
}

}  // namespace

Clock decode_clock(pbf_reader message) {
  namespace f = fields::clock;
  Clock clock;
  while (message.next()) switch (message.tag()) {
      case f::kId:
        clock.id = get_small(message);
        break;
      case f::kKind:
        clock.kind = get_enum(message, kLastClockKind, ClockKind::kEventNumber);
        break;
      case f::kName:
        clock.name = get_text(message);
        break;
      case f::kFrequency:
        clock.frequency = get_number(message);
        break;
      default:
        message.skip();
    }
  return clock;
}

ClockTie decode_clock_tie(pbf_reader message) {
  namespace f = fields::clock_tie;
  ClockTie tie;
  while (message.next()) switch (message.tag()) {
      case f::kClock:
        tie.clock = get_small(message);
        break;
      case f::kAt:
        tie.at = get_number(message);
        break;
      case f::kOther:
        tie.other = get_small(message);
        break;
      case f::kOtherAt:
        tie.other_at = get_number(message);
        break;
      default:
        message.skip();
    }
  return tie;
}

Source decode_source(pbf_reader message) {
  namespace f = fields::source;
  Source source;
  while (message.next()) switch (message.tag()) {
      case f::kId:
        source.id = get_small(message);
        break;
      case f::kName:
        source.name = get_text(message);
        break;
      case f::kKind:
        source.kind = get_enum(message, kLastSourceKind, SourceKind::kOther);
        break;
      case f::kClock:
        source.clock = get_small(message);
        break;
      case f::kPeriod:
        source.period = get_number(message);
        break;
      case f::kEngine:
        source.engine = get_text(message);
        break;
      case f::kValue:
        if (source.values.size() == kMostColumns)
          message.skip();
        else
          source.values.push_back(decode_value_type(get_message(message)));
        break;
      default:
        message.skip();
    }
  if (source.values.empty()) source.values.push_back({"samples", WeightUnit::kTicks, 1});
  return source;
}

Batch<std::string_view> decode_texts(pbf_reader message) {
  namespace f = fields::texts;
  Batch<std::string_view> batch;
  while (message.next()) switch (message.tag()) {
      case f::kFirstId:
        batch.first_id = get_small(message);
        break;
      case f::kText:
        add_row(batch.rows) = get_view(message);
        break;
      default:
        message.skip();
    }
  return batch;
}

Batch<Thread> decode_threads(pbf_reader message) {
  namespace f = fields::threads;
  Batch<Thread> batch;
  while (message.next()) switch (message.tag()) {
      case f::kFirstId:
        batch.first_id = get_small(message);
        break;
      case f::kPid:
        read_first_column(message, batch.rows, [](Thread& thread, std::uint64_t value) {
          thread.pid = minus_one(value);
        });
        break;
      case f::kTid:
        read_column(message, batch.rows,
                    [](Thread& thread, std::uint64_t value) { thread.tid = minus_one(value); });
        break;
      case f::kStartNs:
        read_column(message, batch.rows,
                    [](Thread& thread, std::uint64_t value) { thread.start_ns = value; });
        break;
      default:
        message.skip();
    }
  return batch;
}

Batch<StackList> decode_stack_lists(pbf_reader message) {
  namespace f = fields::stack_lists;
  Batch<StackList> batch;
  while (message.next()) switch (message.tag()) {
      case f::kFirstId:
        batch.first_id = get_small(message);
        break;
      case f::kNode:
        read_first_column(message, batch.rows, [](StackList& list, std::uint64_t value) {
          list.stack.node = small(value);
        });
        break;
      case f::kRest:
        read_column(message, batch.rows,
                    [](StackList& list, std::uint64_t value) { list.rest = small(value); });
        break;
      case f::kEnds:
        read_column(message, batch.rows, [](StackList& list, std::uint64_t value) {
          list.stack.stop = bits_of(value, 0, kLastStopReason, StopReason::kNoRule);
          list.stack.role = bits_of(value, 8, kLastStackRole, StackRole::kInterrupted);
        });
        break;
      case f::kStoppedAt:
        read_column(message, batch.rows, [](StackList& list, std::uint64_t value) {
          list.stack.stopped_at.value = value;
        });
        break;
      default:
        message.skip();
    }
  return batch;
}

Batch<Context> decode_contexts(pbf_reader message) {
  namespace f = fields::contexts;
  Batch<Context> batch;
  while (message.next()) switch (message.tag()) {
      case f::kFirstId:
        batch.first_id = get_small(message);
        break;
      case f::kTraits:
        read_first_column(message, batch.rows, [](Context& context, std::uint64_t traits) {
          context.vcpu = kNoVcpu;
          context.level = bits_of(traits, 0, kLastPrivilegeLevel, PrivilegeLevel::kUnknown);
          context.disposition =
              bits_of(traits, 8, wire::Disposition::kFailed, wire::Disposition::kFailed);
          context.state = bits_of(traits, 16, kLastThreadState, ThreadState::kUnknown);
        });
        break;
      case f::kThread:
        read_column(message, batch.rows,
                    [](Context& context, std::uint64_t value) { context.thread = small(value); });
        break;
      case f::kVcpu:
        read_column(message, batch.rows, [](Context& context, std::uint64_t value) {
          context.vcpu.value = static_cast<std::uint16_t>(value - 1);
        });
        break;
      case f::kWaitsFor:
        read_column(message, batch.rows, [](Context& context, std::uint64_t value) {
          context.waits_for = small(value);
        });
        break;
      case f::kAddressSpace:
        read_column(message, batch.rows,
                    [](Context& context, std::uint64_t value) { context.address_space = value; });
        break;
      case f::kStacks:
        read_column(message, batch.rows,
                    [](Context& context, std::uint64_t value) { context.stacks = small(value); });
        break;
      default:
        message.skip();
    }
  return batch;
}

void decode_sample_batch(pbf_reader message, SampleBatch& out) {
  namespace f = fields::sample_batch;
  out.clear();
  out.source = 0;
  std::size_t column = 0;
  while (message.next()) switch (message.tag()) {
      case f::kSource:
        out.source = get_small(message);
        break;
      case f::kTime:
        read_first_differences(message, out.times,
                               [](std::uint64_t& time, std::uint64_t value) { time = value; });
        break;
      case f::kContext:
        read_first_column(message, out.contexts,
                          [](std::uint32_t& id, std::uint64_t stored) { id = small(stored); });
        break;
      case f::kPause:
        read_first_column(message, out.pauses,
                          [](std::uint64_t& pause, std::uint64_t stored) { pause = stored; });
        break;
      case f::kValues:
        if (column == kMostColumns) {
          message.skip();
          break;
        }
        if (column == out.values.size()) out.values.emplace_back();
        read_column_message(get_message(message), fields::sample_batch_values::kValue,
                            out.values[column++]);
        break;
      default:
        message.skip();
    }
  out.values.resize(column);
  std::size_t rows = std::min(out.times.size(), out.contexts.size());
  if (!out.pauses.empty()) rows = std::min(rows, out.pauses.size());
  for (const auto& values : out.values)
    if (!values.empty()) rows = std::min(rows, values.size());
  out.times.resize(rows);
  out.contexts.resize(rows);
  if (!out.pauses.empty()) out.pauses.resize(rows);
  for (auto& values : out.values)
    if (!values.empty()) values.resize(rows);
}

}  // namespace ringside::recording
