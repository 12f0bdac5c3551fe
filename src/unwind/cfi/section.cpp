#include "unwind/cfi/section.h"

#include <dwarf.h>

#include <algorithm>

namespace ringside::unwind::cfi {
namespace {

// LSB core, "DWARF Exception Header Encoding".
// The encoding of a pointer is its format and what it is relative to.
constexpr std::uint8_t kFormatMask = 0x0f;
constexpr std::uint8_t kApplicationMask = 0x70;

template <class T>
Result<std::uint64_t> read_as(ByteReader& reader) {
  RINGSIDE_ASSIGN(const T value, reader.read<T>());
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

template <class T>
Result<std::uint64_t> read_unsigned(ByteReader& reader) {
  RINGSIDE_ASSIGN(const T value, reader.read<T>());
  return std::uint64_t{value};
}

Result<std::uint64_t> read_address(ByteReader& reader, std::uint8_t size) {
  switch (size) {
    case 4:
      return read_unsigned<std::uint32_t>(reader);
    case 8:
      return read_unsigned<std::uint64_t>(reader);
    default:
      return fail(ErrorCode::kUnsupported, "addresses of {} bytes", size);
  }
}

Result<std::uint64_t> read_format(ByteReader& reader, std::uint8_t format, std::uint8_t size) {
  switch (format) {
    case DW_EH_PE_absptr:
      return read_address(reader, size);
    case DW_EH_PE_uleb128:
      return reader.read_uleb();
    case DW_EH_PE_udata2:
      return read_unsigned<std::uint16_t>(reader);
    case DW_EH_PE_udata4:
      return read_unsigned<std::uint32_t>(reader);
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return read_unsigned<std::uint64_t>(reader);
    case DW_EH_PE_sleb128: {
      RINGSIDE_ASSIGN(const std::int64_t value, reader.read_sleb());
      return static_cast<std::uint64_t>(value);
    }
    case DW_EH_PE_sdata2:
      return read_as<std::int16_t>(reader);
    case DW_EH_PE_sdata4:
      return read_as<std::int32_t>(reader);
    default:
      return fail(ErrorCode::kUnsupported, "pointer format {:#x} at offset {:#x}", format,
                  reader.offset());
  }
}

// A reader whose offsets are the section's, up to `end`.
Result<ByteReader> reader_at(const FrameSection& section, std::size_t offset, std::size_t end) {
  ByteReader reader(section.bytes.first(std::min(end, section.bytes.size())));
  RINGSIDE_TRY(reader.skip(offset));
  return reader;
}

}  // namespace

Result<std::uint64_t> read_encoded(ByteReader& reader, std::uint8_t encoding, ImageAddr base,
                                   std::uint8_t address_size) {
  if (encoding == DW_EH_PE_omit) return std::uint64_t{0};
  if (encoding == DW_EH_PE_absptr && address_size == 8) return reader.read<std::uint64_t>();
  const std::uint64_t place = base.value + reader.offset();
  RINGSIDE_ASSIGN(std::uint64_t value, read_format(reader, encoding & kFormatMask, address_size));
  switch (encoding & kApplicationMask) {
    case 0:
      break;
    case DW_EH_PE_pcrel:
      value += place;
      break;
    default:
      return fail(ErrorCode::kUnsupported, "pointer encoding {:#x} at offset {:#x}", encoding,
                  reader.offset());
  }
  if (address_size == 4) value &= 0xffffffffu;
  return value;
}

Result<EntryHead> read_head(const FrameSection& section, std::size_t offset) {
  RINGSIDE_ASSIGN(ByteReader reader, reader_at(section, offset, section.bytes.size()));
  EntryHead head;
  RINGSIDE_ASSIGN(const auto length32, reader.read<std::uint32_t>());
  std::uint64_t length = length32;
  if (length32 == 0) return fail(ErrorCode::kNotFound, "terminator at offset {:#x}", offset);
  if (length32 == 0xffffffff) {
    RINGSIDE_ASSIGN(length, reader.read<std::uint64_t>());
    head.is_64 = true;
  } else if (length32 >= 0xfffffff0) {
    return fail(ErrorCode::kFormat, "reserved entry length {:#x} at offset {:#x}", length32,
                offset);
  }
  if (length > reader.remaining())
    return fail(ErrorCode::kTruncated, "call-frame entry at offset {:#x} ends behind its section",
                offset);
  const std::size_t id_offset = reader.offset();
  head.next = id_offset + length;
  const bool eh = section.kind == SectionKind::kEhFrame;
  // .eh_frame: the id has 4 bytes even in an entry with an extended length, says 0 for a CIE, and
  // else how far back the CIE is.
  std::uint64_t id = 0;
  if (head.is_64 && !eh) {
    RINGSIDE_ASSIGN(id, reader.read<std::uint64_t>());
  } else {
    RINGSIDE_ASSIGN(const auto id32, reader.read<std::uint32_t>());
    id = id32;
  }
  const std::uint64_t cie_id = eh ? 0 : head.is_64 ? ~std::uint64_t{0} : 0xffffffffu;
  head.is_cie = id == cie_id;
  head.body = reader.offset();
  if (head.body > head.next)
    return fail(ErrorCode::kFormat, "call-frame entry at offset {:#x} is too short", offset);
  if (!head.is_cie) {
    if (eh && id > id_offset)
      return fail(ErrorCode::kFormat, "entry at offset {:#x} has no CIE", offset);
    head.cie = eh ? id_offset - id : id;
  }
  return head;
}

Result<Cie> read_cie(const FrameSection& section, std::size_t offset) {
  RINGSIDE_ASSIGN(const EntryHead head, read_head(section, offset));
  if (!head.is_cie) return fail(ErrorCode::kFormat, "no CIE at offset {:#x}", offset);
  RINGSIDE_ASSIGN(ByteReader reader, reader_at(section, head.body, head.next));
  Cie cie;
  cie.address_size = section.address_size;
  cie.end = head.next;
  RINGSIDE_ASSIGN(const auto version, reader.read<std::uint8_t>());
  if (version != 1 && version != 3 && version != 4)
    return fail(ErrorCode::kUnsupported, "CIE version {} at offset {:#x}", version, offset);
  RINGSIDE_ASSIGN(const std::string_view augmentation, reader.read_c_string());
  if (version == 4) {
    RINGSIDE_ASSIGN(cie.address_size, reader.read<std::uint8_t>());
    RINGSIDE_ASSIGN(const auto segment_size, reader.read<std::uint8_t>());
    if ((cie.address_size != 4 && cie.address_size != 8) || segment_size != 0)
      return fail(ErrorCode::kUnsupported, "CIE at offset {:#x}: address size {}, segment size {}",
                  offset, cie.address_size, segment_size);
  }
  // GCC 2's "eh": a pointer to its exception table stands before the alignments.
  if (augmentation == "eh") RINGSIDE_TRY(reader.skip(cie.address_size));
  RINGSIDE_ASSIGN(cie.code_alignment, reader.read_uleb());
  RINGSIDE_ASSIGN(cie.data_alignment, reader.read_sleb());
  if (version == 1) {
    RINGSIDE_ASSIGN(cie.return_register, reader.read<std::uint8_t>());
  } else {
    RINGSIDE_ASSIGN(const std::uint64_t reg, reader.read_uleb());
    if (reg > 0xff)
      return fail(ErrorCode::kUnsupported, "return register {} at offset {:#x}", reg, offset);
    cie.return_register = static_cast<std::uint8_t>(reg);
  }
  std::size_t after_data = 0;
  for (const char c : augmentation) {
    switch (c) {
      case 'z': {
        RINGSIDE_ASSIGN(const std::uint64_t size, reader.read_uleb());
        if (size > reader.remaining())
          return fail(ErrorCode::kTruncated, "augmentation of the CIE at offset {:#x}", offset);
        cie.has_augmentation_data = true;
        after_data = reader.offset() + size;
        break;
      }
      case 'R': {
        RINGSIDE_ASSIGN(cie.fde_encoding, reader.read<std::uint8_t>());
        break;
      }
      case 'P': {
        RINGSIDE_ASSIGN(const auto encoding, reader.read<std::uint8_t>());
        RINGSIDE_ASSIGN([[maybe_unused]] const auto personality,
                        read_format(reader, encoding & kFormatMask, cie.address_size));
        break;
      }
      case 'L':
        RINGSIDE_TRY(reader.skip(1));
        break;
      case 'S':
        cie.signal_frame = true;
        break;
      case 'B':  // aarch64: return addresses are signed with key B
      case 'e':
      case 'h':
        break;
      default:
        // With 'z' the rest can be stepped over.
        if (!cie.has_augmentation_data)
          return fail(ErrorCode::kUnsupported, "augmentation \"{}\" of the CIE at offset {:#x}",
                      augmentation, offset);
        break;
    }
  }
  if (cie.has_augmentation_data && after_data < reader.offset())
    return fail(ErrorCode::kFormat, "augmentation of the CIE at offset {:#x}", offset);
  cie.instructions = cie.has_augmentation_data ? after_data : reader.offset();
  return cie;
}

Result<Fde> read_fde(const FrameSection& section, const EntryHead& head, const Cie& cie) {
  RINGSIDE_ASSIGN(ByteReader reader, reader_at(section, head.body, head.next));
  Fde fde;
  fde.cie = head.cie;
  fde.end = head.next;
  RINGSIDE_ASSIGN(fde.start.value,
                  read_encoded(reader, cie.fde_encoding, section.address, cie.address_size));
  RINGSIDE_ASSIGN(fde.length, read_encoded(reader, cie.fde_encoding & kFormatMask, section.address,
                                           cie.address_size));
  if (cie.has_augmentation_data) {
    RINGSIDE_ASSIGN(const std::uint64_t size, reader.read_uleb());
    RINGSIDE_TRY(reader.skip(size));
  }
  fde.instructions = reader.offset();
  return fde;
}

}  // namespace ringside::unwind::cfi
