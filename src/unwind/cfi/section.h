#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::unwind::cfi {

enum class SectionKind { kEhFrame, kDebugFrame };

// A call-frame section, its bytes as they lie in the file. No relocations are applied: in a linked
// file there are none to apply, although Linux's vmlinux carries .rela.debug_frame.
struct FrameSection {
  Bytes bytes;
  ImageAddr address;  // of the section, for pc-relative pointers
  SectionKind kind = SectionKind::kEhFrame;
  std::uint8_t address_size = 8;
};

// A common information entry (DWARF 5, section 6.4.1; LSB core, "Exception Frames").
struct Cie {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint8_t return_register = 0;
  std::uint8_t fde_encoding = 0;  // DW_EH_PE_*
  std::uint8_t address_size = 8;
  bool has_augmentation_data = false;  // 'z'
  bool signal_frame = false;           // 'S'
  std::size_t instructions = 0;        // offset in the section
  std::size_t end = 0;
};

// A frame description entry.
struct Fde {
  std::size_t cie = 0;  // offset of its CIE
  ImageAddr start;
  std::uint64_t length = 0;
  std::size_t instructions = 0;
  std::size_t end = 0;
};

// The head that CIEs and FDEs share: where the entry's body lies, and what its id says.
struct EntryHead {
  std::size_t next = 0;  // offset of the entry after this one
  std::size_t body = 0;  // behind the id
  bool is_cie = false;
  bool is_64 = false;   // 64-bit DWARF
  std::size_t cie = 0;  // an FDE's CIE
};

// Each reads the entry at `offset`. The errors name the offset. A terminator (length 0) is an error
// of read_head with ErrorCode::kNotFound.
[[nodiscard]] Result<EntryHead> read_head(const FrameSection& section, std::size_t offset);
[[nodiscard]] Result<Cie> read_cie(const FrameSection& section, std::size_t offset);
[[nodiscard]] Result<Fde> read_fde(const FrameSection& section, const EntryHead& head,
                                   const Cie& cie);

// A pointer in one of the DW_EH_PE encodings, absolute or relative to its own place. `base` is the
// reader's first byte's address.
[[nodiscard]] Result<std::uint64_t> read_encoded(ByteReader& reader, std::uint8_t encoding,
                                                 ImageAddr base, std::uint8_t address_size);

}  // namespace ringside::unwind::cfi
