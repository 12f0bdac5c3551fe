#include <protozero/pbf_writer.hpp>

#include "recording/codec/columns.h"
#include "recording/codec/encode.h"
#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

using protozero::pbf_writer;

template <class Enum>
std::uint64_t number_of(Enum value) {
  return static_cast<std::uint64_t>(value);
}

// 0 is none.
std::uint64_t plus_one(const std::optional<std::uint32_t>& number) {
  return number ? std::uint64_t{*number} + 1 : 0;
}

void encode_threads(const ContextTable& table, pbf_writer& payload) {
  namespace f = fields::threads;
  const auto& threads = table.threads();
  const std::size_t count = threads.pending().size();
  if (count == 0) return;
  pbf_writer out(payload, fields::records::kThreads);
  out.add_uint32(f::kFirstId, threads.first_pending());
  put_column(out, f::kPid, count, [&](auto row) { return plus_one(threads.pending()[row].pid); });
  put_unusual_column(out, f::kTid, count,
                     [&](auto row) { return plus_one(threads.pending()[row].tid); });
  put_unusual_column(out, f::kStartNs, count,
                     [&](auto row) { return threads.pending()[row].start_ns; });
}

void encode_lists(const ContextTable& table, pbf_writer& payload) {
  namespace f = fields::stack_lists;
  const auto& lists = table.lists();
  const std::size_t count = lists.pending().size();
  if (count == 0) return;
  pbf_writer out(payload, fields::records::kStackLists);
  out.add_uint32(f::kFirstId, lists.first_pending());
  put_column(out, f::kNode, count,
             [&](auto row) { return std::uint64_t{lists.pending()[row].stack.node}; });
  put_unusual_column(out, f::kRest, count,
                     [&](auto row) { return std::uint64_t{lists.pending()[row].rest}; });
  put_unusual_column(out, f::kEnds, count, [&](auto row) {
    const StackRef& stack = lists.pending()[row].stack;
    return number_of(stack.stop) | number_of(stack.role) << 8;
  });
  put_unusual_column(out, f::kStoppedAt, count,
                     [&](auto row) { return lists.pending()[row].stack.stopped_at.value; });
}

void encode_contexts(const ContextTable& table, pbf_writer& payload) {
  namespace f = fields::contexts;
  const std::vector<Context>& contexts = table.pending();
  const std::size_t count = contexts.size();
  if (count == 0) return;
  pbf_writer out(payload, fields::records::kContexts);
  out.add_uint32(f::kFirstId, table.first_pending());
  put_column(out, f::kTraits, count, [&](auto row) {
    const Context& context = contexts[row];
    return number_of(context.level) | number_of(context.disposition) << 8 |
           number_of(context.state) << 16;
  });
  const auto put_member = [&](fields::Tag tag, auto&& value_of) {
    put_unusual_column(out, tag, count,
                       [&](auto row) -> std::uint64_t { return value_of(contexts[row]); });
  };
  put_member(f::kThread, [](const Context& context) { return context.thread; });
  put_member(f::kVcpu, [](const Context& context) -> std::uint64_t {
    return context.vcpu == kNoVcpu ? 0 : std::uint64_t{context.vcpu.value} + 1;
  });
  put_member(f::kWaitsFor, [](const Context& context) { return context.waits_for; });
  put_member(f::kAddressSpace, [](const Context& context) { return context.address_space; });
  put_member(f::kStacks, [](const Context& context) { return context.stacks; });
}

}  // namespace

void encode(const ContextTable& table, std::string& payload) {
  pbf_writer records(payload);
  encode_threads(table, records);
  encode_lists(table, records);
  encode_contexts(table, records);
}

void encode(const SampleBatch& batch, std::string& payload) {
  namespace f = fields::sample_batch;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kSampleBatch);
  out.add_uint32(f::kSource, batch.source);
  put_times(out, f::kTime, batch.times);
  put_column(out, f::kContext, batch.size(),
             [&](auto row) { return std::uint64_t{batch.contexts[row]}; });
  put_unusual_column(out, f::kPause, batch.size(), [&](auto row) { return batch.pause(row); });
  for (const auto& values : batch.values)
    put_column_message(out, f::kValues, fields::sample_batch_values::kValue, values,
                       std::int64_t{1});
}

}  // namespace ringside::recording
