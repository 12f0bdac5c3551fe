#include "recording/decode.h"

#include <algorithm>

#include "recording/fields.h"

namespace ringside::recording {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Fields are only taken with the wire type they are documented with; another type is skipped like
// an unknown field, as protobuf does.
bool is_varint(const pbf_reader& message) { return message.wire_type() == pbf_wire_type::varint; }
bool is_bytes(const pbf_reader& message) {
  return message.wire_type() == pbf_wire_type::length_delimited;
}
bool is_fixed64(const pbf_reader& message) { return message.wire_type() == pbf_wire_type::fixed64; }

std::uint64_t get_number(pbf_reader& message) {
  if (is_varint(message)) return message.get_uint64();
  if (is_fixed64(message)) return message.get_fixed64();
  message.skip();
  return 0;
}

std::uint32_t get_small(pbf_reader& message) {
  return static_cast<std::uint32_t>(get_number(message));
}

std::string_view get_view(pbf_reader& message) {
  if (!is_bytes(message)) {
    message.skip();
    return {};
  }
  const protozero::data_view view = message.get_view();
  return {view.data(), view.size()};
}

std::string get_text(pbf_reader& message) { return std::string(get_view(message)); }

pbf_reader get_message(pbf_reader& message) {
  const std::string_view view = get_view(message);
  return pbf_reader(view.data(), view.size());
}

template <class Enum>
Enum get_enum(pbf_reader& message, Enum last, Enum otherwise) {
  const std::uint64_t value = get_number(message);
  return value <= static_cast<std::uint64_t>(last) ? static_cast<Enum>(value) : otherwise;
}

VcpuId get_vcpu(pbf_reader& message) {
  return VcpuId{static_cast<std::uint16_t>(get_number(message))};
}

StackRef decode_stack(pbf_reader message) {
  namespace f = fields::stack_ref;
  StackRef ref;
  while (message.next()) switch (message.tag()) {
      case f::kNode:
        ref.node = get_small(message);
        break;
      case f::kStop:
        ref.stop = get_enum(message, StopReason::kNoRegisters, StopReason::kNoRule);
        break;
      case f::kStoppedAt:
        ref.stopped_at.value = get_number(message);
        break;
      default:
        message.skip();
    }
  return ref;
}

RecordedFrame& set_traits(RecordedFrame& frame, std::uint32_t traits) {
  const std::uint32_t kind = traits >> 1 & 0x7f;
  const std::uint32_t source = traits >> 8 & 0xff;
  frame.exact = (traits & 1) != 0;
  frame.kind = kind <= static_cast<std::uint32_t>(FrameKind::kFirmware)
                   ? static_cast<FrameKind>(kind)
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

Header decode_header(pbf_reader message) {
  namespace f = fields::header;
  Header header;
  while (message.next()) switch (message.tag()) {
      case f::kRingsideVersion:
        header.ringside_version = get_text(message);
        break;
      case f::kCommandLine:
        header.command_line.push_back(get_text(message));
        break;
      case f::kStartWallNs:
        header.start_wall_ns = get_number(message);
        break;
      case f::kStartMonotonicNs:
        header.start_monotonic_ns = get_number(message);
        break;
      case f::kArch:
        header.arch = get_enum(message, Arch::kRiscv64, Arch::kUnknown);
        break;
      case f::kVcpuCount:
        header.vcpu_count = get_small(message);
        break;
      case f::kIntervalNs:
        header.interval_ns = get_number(message);
        break;
      case f::kEngine:
        header.engine = get_text(message);
        break;
      case f::kGuestOs:
        header.guest_os = get_text(message);
        break;
      case f::kKernel:
        header.kernel = get_text(message);
        break;
      case f::kHost:
        header.host = get_text(message);
        break;
      default:
        message.skip();
    }
  return header;
}

ImageInfo decode_image(pbf_reader message) {
  namespace f = fields::image;
  ImageInfo image;
  while (message.next()) switch (message.tag()) {
      case f::kId:
        image.id = get_small(message);
        break;
      case f::kName:
        image.name = get_text(message);
        break;
      case f::kPath:
        image.path = get_text(message);
        break;
      case f::kBuildId: {
        const Bytes bytes = as_bytes(get_view(message));
        image.build_id.assign(bytes.begin(), bytes.end());
        break;
      }
      case f::kArch:
        image.arch = get_enum(message, Arch::kRiscv64, Arch::kUnknown);
        break;
      case f::kLoadBias:
        image.load_bias = get_number(message);
        break;
      case f::kSize:
        image.size = get_number(message);
        break;
      default:
        message.skip();
    }
  return image;
}

Mapping decode_mapping(pbf_reader message) {
  namespace f = fields::mapping;
  Mapping mapping;
  while (message.next()) switch (message.tag()) {
      case f::kId:
        mapping.id = get_small(message);
        break;
      case f::kImage:
        mapping.image = get_small(message);
        break;
      case f::kStart:
        mapping.start.value = get_number(message);
        break;
      case f::kEnd:
        mapping.end.value = get_number(message);
        break;
      case f::kFileOffset:
        mapping.file_offset.value = get_number(message);
        break;
      case f::kValidFromNs:
        mapping.valid_from_ns = get_number(message);
        break;
      case f::kAddressSpace:
        mapping.address_space = get_number(message);
        break;
      default:
        message.skip();
    }
  return mapping;
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
        info.level = get_enum(message, PrivilegeLevel::kFirmware, PrivilegeLevel::kUnknown);
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
        info.unit = get_enum(message, WeightUnit::kCount, WeightUnit::kCount);
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

GuestEpoch decode_epoch(pbf_reader message) {
  namespace f = fields::epoch;
  GuestEpoch epoch;
  while (message.next()) switch (message.tag()) {
      case f::kTimeNs:
        epoch.time_ns = get_number(message);
        break;
      case f::kReason:
        epoch.reason = get_text(message);
        break;
      case f::kLoadBias:
        epoch.load_bias = get_number(message);
        break;
      default:
        message.skip();
    }
  return epoch;
}

ThreadName decode_thread_name(pbf_reader message) {
  namespace f = fields::thread_name;
  ThreadName name;
  while (message.next()) switch (message.tag()) {
      case f::kTimeNs:
        name.time_ns = get_number(message);
        break;
      case f::kPid:
        name.pid = get_small(message);
        break;
      case f::kTid:
        name.tid = get_small(message);
        break;
      case f::kAddressSpace:
        name.address_space = get_number(message);
        break;
      case f::kName:
        name.name = get_text(message);
        break;
      default:
        message.skip();
    }
  return name;
}

Event decode_event(pbf_reader message) {
  namespace f = fields::event;
  Event event;
  while (message.next()) switch (message.tag()) {
      case f::kTimeNs:
        event.time_ns = get_number(message);
        break;
      case f::kVcpu:
        event.vcpu = get_vcpu(message);
        break;
      case f::kName:
        event.name = get_text(message);
        break;
      case f::kField: {
        pbf_reader field = get_message(message);
        auto& [key, value] = event.fields.emplace_back();
        while (field.next()) {
          if (field.tag() == fields::event_field::kKey)
            key = get_text(field);
          else if (field.tag() == fields::event_field::kValue)
            value = get_text(field);
          else
            field.skip();
        }
        break;
      }
      case f::kStack:
        event.stack = decode_stack(get_message(message));
        break;
      default:
        message.skip();
    }
  return event;
}

Statistics decode_statistics(pbf_reader message) {
  namespace f = fields::statistics;
  Statistics statistics;
  while (message.next()) switch (message.tag()) {
      case f::kDue:
        statistics.due = get_number(message);
        break;
      case f::kLost:
        statistics.lost = get_number(message);
        break;
      case f::kLate:
        statistics.late = get_number(message);
        break;
      case f::kDurationNs:
        statistics.duration_ns = get_number(message);
        break;
      case f::kSymbolNs:
        statistics.symbol_ns = get_number(message);
        break;
      case f::kCounter: {
        pbf_reader counter = get_message(message);
        std::string name;
        std::uint64_t value = 0;
        while (counter.next()) {
          if (counter.tag() == fields::counter::kName)
            name = get_text(counter);
          else if (counter.tag() == fields::counter::kValue)
            value = get_number(counter);
          else
            counter.skip();
        }
        statistics.counters[name] = value;
        break;
      }
      default:
        message.skip();
    }
  return statistics;
}

BlobPiece decode_blob_piece(pbf_reader message) {
  namespace f = fields::blob_piece;
  BlobPiece piece;
  while (message.next()) switch (message.tag()) {
      case f::kKind:
        piece.kind = get_text(message);
        break;
      case f::kImage:
        piece.image = get_small(message);
        break;
      case f::kOffset:
        piece.offset = get_number(message);
        break;
      case f::kTotalSize:
        piece.total_size = get_number(message);
        break;
      case f::kContent:
        piece.content = get_view(message);
        break;
      default:
        message.skip();
    }
  return piece;
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
