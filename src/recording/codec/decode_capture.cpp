#include "recording/codec/decode.h"
#include "recording/codec/decode_field.h"
#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

// A kind that a later version has is memory all the same.
constexpr auto kUnknownPiece = wire::PieceKind::kInterruptedStack;
constexpr auto kLastPiece = static_cast<wire::PieceKind>(wire::kPieceKindCount - 1);

void decode_piece(pbf_reader message, wire::Capture& capture) {
  namespace f = fields::capture_piece;
  wire::MemoryPiece piece{};
  std::string_view content;
  std::optional<std::uint32_t> requested;
  while (message.next()) switch (message.tag()) {
      case f::kAddress:
        piece.address.value = get_number(message);
        break;
      case f::kKind:
        piece.why = get_enum(message, kLastPiece, kUnknownPiece);
        break;
      case f::kRequested:
        requested = get_small(message);
        break;
      case f::kContent:
        content = get_view(message);
        break;
      default:
        message.skip();
    }
  const Bytes bytes = as_bytes(content);
  piece.offset = static_cast<std::uint32_t>(capture.bytes.size());
  piece.size = static_cast<std::uint32_t>(bytes.size());
  piece.requested = requested.value_or(piece.size);
  capture.bytes.insert(capture.bytes.end(), bytes.begin(), bytes.end());
  capture.pieces.push_back(piece);
}

// The n-th value belongs to the n-th valid register.
void set_registers(const std::vector<std::uint64_t>& values, std::uint64_t valid,
                   arch::Registers& registers) {
  auto value = values.begin();
  for (std::size_t n = 0; n < arch::kRegisterCount && value != values.end(); ++n)
    if ((valid >> n & 1u) != 0) registers.set(n, *value++);
}

}  // namespace

wire::Capture decode_capture(pbf_reader message) {
  namespace f = fields::capture;
  wire::Capture capture;
  std::uint64_t valid = 0;
  std::vector<std::uint64_t> values;
  while (message.next()) switch (message.tag()) {
      case f::kTimeNs:
        capture.host_time_ns = get_number(message);
        break;
      case f::kVcpu:
        capture.vcpu = get_vcpu(message);
        break;
      case f::kArch:
        capture.arch = get_enum(message, kLastArch, Arch::kUnknown);
        break;
      case f::kLevel:
        capture.level = get_enum(message, kLastPrivilegeLevel, PrivilegeLevel::kUnknown);
        break;
      case f::kDisposition:
        capture.disposition =
            get_enum(message, wire::Disposition::kFailed, wire::Disposition::kFailed);
        break;
      case f::kPauseNs:
        capture.pause_ns = get_number(message);
        break;
      case f::kWeight:
        capture.weight = get_number(message);
        break;
      case f::kValidRegisters:
        valid = get_number(message);
        break;
      case f::kRegister:
        if (!is_bytes(message)) {
          message.skip();
          break;
        }
        for (const std::uint64_t value : message.get_packed_fixed64())
          if (values.size() < arch::kRegisterCount) values.push_back(value);
        break;
      case f::kPiece:
        decode_piece(get_message(message), capture);
        break;
      default:
        message.skip();
    }
  set_registers(values, valid, capture.registers);
  return capture;
}

}  // namespace ringside::recording
