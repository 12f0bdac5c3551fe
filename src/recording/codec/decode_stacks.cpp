#include "recording/codec/decode.h"
#include "recording/codec/decode_field.h"
#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

RecordedFrame& set_traits(RecordedFrame& frame, std::uint32_t traits) {
  const std::uint32_t kind = traits >> 1 & 0x7f;
  const std::uint32_t source = traits >> 8 & 0xff;
  frame.exact = (traits & 1) != 0;
  frame.kind = kind <= static_cast<std::uint32_t>(kLastFrameKind) ? static_cast<FrameKind>(kind)
                                                                  : FrameKind::kKernel;
  frame.source =
      source < kFrameSourceCount ? static_cast<FrameSource>(source) : FrameSource::kGuess;
  return frame;
}

// Reads a packed column into rows that exist, calling set(row, value); returns how many it had.
template <class Row, class Set>
std::size_t read_column(pbf_reader& message, std::vector<Row>& rows, Set&& set) {
  if (!is_bytes(message)) {
    message.skip();
    return rows.size();
  }
  std::size_t index = 0;
  for (const std::uint32_t value : message.get_packed_uint32()) {
    if (index == rows.size()) break;
    set(rows[index++], value);
  }
  return index;
}

}  // namespace

StackRef decode_stack(pbf_reader message) {
  namespace f = fields::stack;
  StackRef ref;
  while (message.next()) switch (message.tag()) {
      case f::kNode:
        ref.node = get_small(message);
        break;
      case f::kStop:
        ref.stop = get_enum(message, StopReason::kLostRegister, StopReason::kNoRule);
        break;
      case f::kStoppedAt:
        ref.stopped_at.value = get_number(message);
        break;
      default:
        message.skip();
    }
  return ref;
}

void decode_sample(pbf_reader message, Sample& out) {
  namespace f = fields::sample;
  out.info = {};
  out.stacks.clear();
  SampleInfo& info = out.info;
  while (message.next()) switch (message.tag()) {
      case f::kTimeNs:
        info.time_ns = get_number(message);
        break;
      case f::kVcpu:
        info.vcpu = get_vcpu(message);
        break;
      case f::kLevel:
        info.level = get_enum(message, kLastPrivilegeLevel, PrivilegeLevel::kUnknown);
        break;
      case f::kDisposition:
        info.disposition =
            get_enum(message, wire::Disposition::kFailed, wire::Disposition::kFailed);
        break;
      case f::kPauseNs:
        info.pause_ns = get_number(message);
        break;
      case f::kWeight:
        info.weight = get_number(message);
        break;
      case f::kUnit:
        info.unit = get_enum(message, WeightUnit::kSamples, WeightUnit::kCount);
        break;
      case f::kAddressSpace:
        info.address_space = get_number(message);
        break;
      case f::kPid:
        info.pid = get_small(message);
        break;
      case f::kTid:
        info.tid = get_small(message);
        break;
      case f::kStack:
        out.stacks.push_back(decode_stack(get_message(message)));
        break;
      default:
        message.skip();
    }
}

FrameBatch decode_frames(pbf_reader message) {
  namespace f = fields::frames;
  FrameBatch batch;
  while (message.next()) switch (message.tag()) {
      case f::kFirstId:
        batch.first_id = get_small(message);
        break;
      case f::kAddress: {
        if (!is_bytes(message)) {
          message.skip();
          break;
        }
        std::uint64_t address = 0;
        for (const std::int64_t delta : message.get_packed_sint64()) {
          address += static_cast<std::uint64_t>(delta);
          batch.frames.emplace_back().address.value = address;
        }
        break;
      }
      case f::kTraits:
        read_column(message, batch.frames, set_traits);
        break;
      case f::kImage:
        read_column(message, batch.frames,
                    [](RecordedFrame& frame, std::uint32_t value) { frame.image = value; });
        break;
      case f::kMapping:
        read_column(message, batch.frames,
                    [](RecordedFrame& frame, std::uint32_t value) { frame.mapping = value; });
        break;
      default:
        message.skip();
    }
  return batch;
}

NodeBatch decode_nodes(pbf_reader message) {
  namespace f = fields::stack_nodes;
  NodeBatch batch;
  while (message.next()) switch (message.tag()) {
      case f::kFirstId:
        batch.first_id = get_small(message);
        break;
      case f::kParent: {
        if (!is_bytes(message)) {
          message.skip();
          break;
        }
        for (const std::uint32_t parent : message.get_packed_uint32())
          batch.nodes.push_back({parent, 0});
        break;
      }
      case f::kFrame:
        batch.nodes.resize(
            read_column(message, batch.nodes,
                        [](StackNode& node, std::uint32_t value) { node.frame = value; }));
        break;
      default:
        message.skip();
    }
  return batch;
}

}  // namespace ringside::recording
