#include <algorithm>

#include "recording/codec/columns.h"
#include "recording/codec/decode.h"
#include "recording/codec/decode_field.h"
#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

void set_traits(RecordedFrame& frame, std::uint64_t traits) {
  const std::uint64_t kind = traits >> 1 & 0x7f;
  const std::uint64_t source = traits >> 8 & 0xff;
  frame.exact = (traits & 1) != 0;
  frame.inlined = (traits >> 16 & 1) != 0;
  frame.kind = kind <= static_cast<std::uint64_t>(kLastFrameKind) ? static_cast<FrameKind>(kind)
                                                                  : FrameKind::kKernel;
  frame.source =
      source < kFrameSourceCount ? static_cast<FrameSource>(source) : FrameSource::kGuess;
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
        ref.stop = get_enum(message, kLastStopReason, StopReason::kNoRule);
        break;
      case f::kStoppedAt:
        ref.stopped_at.value = get_number(message);
        break;
      default:
        message.skip();
    }
  return ref;
}

void decode_sample(pbf_reader message, OldSample& out) {
  namespace f = fields::sample;
  out.info = {};
  out.unit = WeightUnit::kTicks;
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
        out.unit = get_enum(message, kLastWeightUnit, WeightUnit::kCount);
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

Batch<RecordedFrame> decode_frames(pbf_reader message) {
  namespace f = fields::frames;
  Batch<RecordedFrame> batch;
  const auto read = [&](std::uint32_t RecordedFrame::*member) {
    read_column(message, batch.rows, [member](RecordedFrame& frame, std::uint64_t value) {
      frame.*member = static_cast<std::uint32_t>(value);
    });
  };
  while (message.next()) switch (message.tag()) {
      case f::kFirstId:
        batch.first_id = get_small(message);
        break;
      case f::kAddress:
        read_first_differences(message, batch.rows, [](RecordedFrame& frame, std::uint64_t value) {
          frame.address.value = value;
        });
        break;
      case f::kTraits:
        read_column(message, batch.rows, set_traits);
        break;
      case f::kImage:
        read(&RecordedFrame::image);
        break;
      case f::kMapping:
        read(&RecordedFrame::mapping);
        break;
      case f::kFunction:
        read(&RecordedFrame::function);
        break;
      case f::kFile:
        read(&RecordedFrame::file);
        break;
      case f::kLine:
        read(&RecordedFrame::line);
        break;
      default:
        message.skip();
    }
  return batch;
}

Batch<StackNode> decode_nodes(pbf_reader message) {
  namespace f = fields::stack_nodes;
  Batch<StackNode> batch;
  std::size_t frames = 0;
  while (message.next()) switch (message.tag()) {
      case f::kFirstId:
        batch.first_id = get_small(message);
        break;
      case f::kParent:
        read_first_column(message, batch.rows, [](StackNode& node, std::uint64_t value) {
          node.parent = static_cast<std::uint32_t>(value);
        });
        break;
      case f::kFrame:
        read_column(message, batch.rows, [&](StackNode& node, std::uint64_t value) {
          node.frame = static_cast<std::uint32_t>(value);
          ++frames;
        });
        break;
      default:
        message.skip();
    }
  batch.rows.resize(std::min(batch.rows.size(), frames));
  return batch;
}

}  // namespace ringside::recording
