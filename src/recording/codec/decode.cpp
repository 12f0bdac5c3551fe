#include "recording/codec/decode.h"

#include "recording/codec/decode_field.h"
#include "recording/codec/fields.h"

namespace ringside::recording {

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
        header.arch = get_enum(message, kLastArch, Arch::kUnknown);
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
      case f::kQemuVersion:
        header.qemu_version = get_text(message);
        break;
      case f::kKernelRelease:
        header.kernel_release = get_text(message);
        break;
      case f::kDeterministicSeed:
        header.deterministic_seed = get_number(message);
        break;
      case f::kKernelBuildId: {
        const Bytes bytes = as_bytes(get_view(message));
        header.kernel_build_id.assign(bytes.begin(), bytes.end());
        break;
      }
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
        image.arch = get_enum(message, kLastArch, Arch::kUnknown);
        break;
      case f::kLoadBias:
        image.load_bias = get_number(message);
        break;
      case f::kSize:
        image.size = get_number(message);
        break;
      case f::kCodeHash:
        image.code_hash = get_number(message);
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

ImageFunction decode_image_function(pbf_reader message) {
  namespace f = fields::image_function;
  ImageFunction function;
  while (message.next()) switch (message.tag()) {
      case f::kImage:
        function.image = get_small(message);
        break;
      case f::kAddress:
        function.address.value = get_number(message);
        break;
      case f::kSize:
        function.size = get_number(message);
        break;
      case f::kName:
        function.name = get_text(message);
        break;
      case f::kInFile:
        function.in_file = get_number(message) != 0;
        break;
      default:
        message.skip();
    }
  return function;
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
      case f::kCgroup:
        name.cgroup = get_text(message);
        break;
      case f::kOfMany:
        name.of_many = get_number(message) != 0;
        break;
      default:
        message.skip();
    }
  return name;
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
          if (counter.tag() == fields::statistics_counter::kName)
            name = get_text(counter);
          else if (counter.tag() == fields::statistics_counter::kValue)
            value = get_number(counter);
          else
            counter.skip();
        }
        statistics.counters[name] = value;
        break;
      }
      case f::kSource:
        statistics.source = get_small(message);
        break;
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

}  // namespace ringside::recording
