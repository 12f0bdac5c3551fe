#include "recording/codec/encode.h"

#include <protozero/pbf_writer.hpp>

#include "recording/codec/columns.h"
#include "recording/codec/fields.h"
#include "recording/codec/put_field.h"

namespace ringside::recording {
namespace {

using fields::Tag;
using protozero::pbf_writer;

std::uint32_t traits_of(const RecordedFrame& frame) {
  return static_cast<std::uint32_t>(frame.exact) | static_cast<std::uint32_t>(frame.kind) << 1 |
         static_cast<std::uint32_t>(frame.source) << 8 |
         static_cast<std::uint32_t>(frame.inlined) << 16;
}

void encode_frames(const StackInterner::Pending& pending, pbf_writer& payload) {
  namespace f = fields::frames;
  pbf_writer out(payload, fields::records::kFrames);
  out.add_uint32(f::kFirstId, pending.first_frame);
  {
    protozero::packed_field_sint64 column(out, f::kAddress);
    std::uint64_t previous = 0;
    for (const RecordedFrame& frame : pending.frames) {
      column.add_element(static_cast<std::int64_t>(frame.address.value - previous));
      previous = frame.address.value;
    }
  }
  const auto add_column = [&](Tag tag, auto&& value_of) {
    protozero::packed_field_uint32 column(out, tag);
    for (const RecordedFrame& frame : pending.frames) column.add_element(value_of(frame));
  };
  add_column(f::kTraits, traits_of);
  add_column(f::kImage, [](const RecordedFrame& frame) { return frame.image; });
  add_column(f::kMapping, [](const RecordedFrame& frame) { return frame.mapping; });
  const auto add_rare_column = [&](Tag tag, auto&& value_of) {
    put_unusual_column(out, tag, pending.frames.size(),
                       [&](auto row) -> std::uint64_t { return value_of(pending.frames[row]); });
  };
  add_rare_column(f::kFunction, [](const RecordedFrame& frame) { return frame.function; });
  add_rare_column(f::kFile, [](const RecordedFrame& frame) { return frame.file; });
  add_rare_column(f::kLine, [](const RecordedFrame& frame) { return frame.line; });
}

void encode_nodes(const StackInterner::Pending& pending, pbf_writer& payload) {
  namespace f = fields::stack_nodes;
  pbf_writer out(payload, fields::records::kStackNodes);
  out.add_uint32(f::kFirstId, pending.first_node);
  {
    protozero::packed_field_uint32 column(out, f::kParent);
    for (const StackNode& node : pending.nodes) column.add_element(node.parent);
  }
  protozero::packed_field_uint32 column(out, f::kFrame);
  for (const StackNode& node : pending.nodes) column.add_element(node.frame);
}

}  // namespace

void encode(const Header& header, std::string& payload) {
  namespace f = fields::header;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kHeader);
  out.add_bytes(f::kRingsideVersion, header.ringside_version);
  for (const std::string& word : header.command_line) out.add_bytes(f::kCommandLine, word);
  put(out, f::kStartWallNs, header.start_wall_ns);
  put(out, f::kStartMonotonicNs, header.start_monotonic_ns);
  put_enum(out, f::kArch, header.arch);
  put(out, f::kVcpuCount, header.vcpu_count);
  put(out, f::kIntervalNs, header.interval_ns);
  put(out, f::kEngine, header.engine);
  put(out, f::kGuestOs, header.guest_os);
  put(out, f::kKernel, header.kernel);
  put(out, f::kHost, header.host);
  put(out, f::kQemuVersion, header.qemu_version);
  put(out, f::kKernelRelease, header.kernel_release);
  put(out, f::kKernelBuildId,
      std::string_view(reinterpret_cast<const char*>(header.kernel_build_id.data()),
                       header.kernel_build_id.size()));
  if (header.deterministic_seed) out.add_uint64(f::kDeterministicSeed, *header.deterministic_seed);
}

void encode(const ImageInfo& image, std::string& payload) {
  namespace f = fields::image;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kImage);
  out.add_uint64(f::kId, image.id);
  put(out, f::kName, image.name);
  put(out, f::kPath, image.path);
  put(out, f::kBuildId,
      std::string_view(reinterpret_cast<const char*>(image.build_id.data()),
                       image.build_id.size()));
  put_enum(out, f::kArch, image.arch);
  put_address(out, f::kLoadBias, image.load_bias);
  put(out, f::kSize, image.size);
  put_address(out, f::kCodeHash, image.code_hash);
}

void encode(const Mapping& mapping, std::string& payload) {
  namespace f = fields::mapping;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kMapping);
  out.add_uint64(f::kId, mapping.id);
  put(out, f::kImage, mapping.image);
  put_address(out, f::kStart, mapping.start.value);
  put_address(out, f::kEnd, mapping.end.value);
  put(out, f::kFileOffset, mapping.file_offset.value);
  put(out, f::kValidFromNs, mapping.valid_from_ns);
  put(out, f::kAddressSpace, mapping.address_space);
}

void encode(const StackInterner::Pending& pending, std::string& payload) {
  pbf_writer records(payload);
  if (!pending.frames.empty()) encode_frames(pending, records);
  if (!pending.nodes.empty()) encode_nodes(pending, records);
}

void encode(const Clock& clock, std::string& payload) {
  namespace f = fields::clock;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kClock);
  out.add_uint64(f::kId, clock.id);
  put_enum(out, f::kKind, clock.kind);
  put(out, f::kName, clock.name);
  put(out, f::kFrequency, clock.frequency);
}

void encode(const ClockTie& tie, std::string& payload) {
  namespace f = fields::clock_tie;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kClockTie);
  out.add_uint64(f::kClock, tie.clock);
  put(out, f::kAt, tie.at);
  put(out, f::kOther, tie.other);
  put(out, f::kOtherAt, tie.other_at);
}

void encode(const Source& source, std::string& payload) {
  namespace f = fields::source;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kSource);
  out.add_uint64(f::kId, source.id);
  put(out, f::kName, source.name);
  put_enum(out, f::kKind, source.kind);
  put(out, f::kClock, source.clock);
  put(out, f::kPeriod, source.period);
  put(out, f::kEngine, source.engine);
  for (const ValueType& type : source.values) {
    pbf_writer value(out, f::kValue);
    value.add_bytes(fields::value_type::kName, type.name);
    put_enum(value, fields::value_type::kUnit, type.unit);
    if (type.scale != 1) value.add_uint64(fields::value_type::kScale, type.scale);
  }
}

void encode(const TextBatch& batch, std::string& payload) {
  namespace f = fields::texts;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kTexts);
  out.add_uint32(f::kFirstId, batch.first_id);
  for (const std::string& text : batch.texts) out.add_bytes(f::kText, text);
}

void encode(const ImageFunction& function, std::string& payload) {
  namespace f = fields::image_function;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kImageFunction);
  out.add_uint32(f::kImage, function.image);
  put_address(out, f::kAddress, function.address.value);
  put(out, f::kSize, function.size);
  put(out, f::kName, function.name);
  put(out, f::kInFile, std::uint64_t{function.in_file});
}

void encode(const GuestEpoch& epoch, std::string& payload) {
  namespace f = fields::epoch;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kEpoch);
  out.add_uint64(f::kTimeNs, epoch.time_ns);
  put(out, f::kReason, epoch.reason);
  put_address(out, f::kLoadBias, epoch.load_bias);
}

void encode(const ThreadName& name, std::string& payload) {
  namespace f = fields::thread_name;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kThreadName);
  out.add_uint64(f::kTimeNs, name.time_ns);
  put(out, f::kPid, name.pid);
  put(out, f::kTid, name.tid);
  put(out, f::kAddressSpace, name.address_space);
  put(out, f::kName, name.name);
  put(out, f::kCgroup, name.cgroup);
  put(out, f::kOfMany, std::uint64_t{name.of_many});
}

void encode(const wire::Capture& capture, std::string& payload) {
  namespace f = fields::capture;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kCapture);
  out.add_uint64(f::kTimeNs, capture.host_time_ns);
  put(out, f::kVcpu, capture.vcpu.value);
  put_enum(out, f::kArch, capture.arch);
  put_enum(out, f::kLevel, capture.level);
  put_enum(out, f::kDisposition, capture.disposition);
  put(out, f::kPauseNs, capture.pause_ns);
  if (capture.weight != 1) out.add_uint64(f::kWeight, capture.weight);
  put_address(out, f::kValidRegisters, capture.registers.valid);
  {
    protozero::packed_field_fixed64 values(out, f::kRegister);
    for (std::size_t n = 0; n < arch::kRegisterCount; ++n)
      if (capture.registers.has(n)) values.add_element(capture.registers.get(n));
  }
  for (const wire::MemoryPiece& piece : capture.pieces) {
    pbf_writer message(out, f::kPiece);
    message.add_fixed64(fields::capture_piece::kAddress, piece.address.value);
    put_enum(message, fields::capture_piece::kKind, piece.why);
    if (piece.requested != piece.size)
      message.add_uint32(fields::capture_piece::kRequested, piece.requested);
    const Bytes bytes = capture.bytes_of(piece);
    put(message, fields::capture_piece::kContent,
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
}

void encode(const Statistics& statistics, std::string& payload) {
  namespace f = fields::statistics;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kStatistics);
  out.add_uint64(f::kDue, statistics.due);
  put(out, f::kLost, statistics.lost);
  put(out, f::kLate, statistics.late);
  put(out, f::kDurationNs, statistics.duration_ns);
  put(out, f::kSymbolNs, statistics.symbol_ns);
  for (const auto& [name, value] : statistics.counters) {
    pbf_writer counter(out, f::kCounter);
    counter.add_bytes(fields::statistics_counter::kName, name);
    put(counter, fields::statistics_counter::kValue, value);
  }
  if (statistics.source != kCpuSource) out.add_uint32(f::kSource, statistics.source);
}

void encode_warning(std::string_view text, std::string& payload) {
  pbf_writer records(payload);
  records.add_bytes(fields::records::kWarning, text.data(), text.size());
}

void encode(const BlobPiece& piece, std::string& payload) {
  namespace f = fields::blob_piece;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kBlobPiece);
  out.add_bytes(f::kKind, piece.kind);
  put(out, f::kImage, piece.image);
  put(out, f::kOffset, piece.offset);
  put(out, f::kTotalSize, piece.total_size);
  put(out, f::kContent, piece.content);
}

}  // namespace ringside::recording
