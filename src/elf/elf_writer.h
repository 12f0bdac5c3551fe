#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::elf {

// Writes an ELF file, 32 or 64 bit, little endian. Bytes that are added must outlive write().
class ElfWriter {
 public:
  // `type` is e_type.
  ElfWriter(Arch arch, bool is_64, std::uint16_t type) : arch_(arch), is_64_(is_64), type_(type) {}

  // A PT_LOAD program header; `bytes` may be fewer than `memory_size`. Without any its file offset
  // is 0. Segments are to be added by ascending address.
  void add_segment(ImageAddr address, std::uint64_t memory_size, bool executable, bool writable,
                   Bytes bytes);
  // A section with contents of its own; `type` and `flags` are sh_type and sh_flags. Returns its
  // number, for symbols.
  std::uint16_t add_section(std::string name, std::uint32_t type, std::uint64_t flags,
                            ImageAddr address, Bytes bytes);
  // A section whose contents are the bytes of the one segment that holds all of its `size` bytes;
  // they are not stored again. SHT_NOBITS where there is no such segment.
  std::uint16_t map_section(std::string name, std::uint32_t type, std::uint64_t flags,
                            ImageAddr address, std::uint64_t size);
  struct Symbol {
    std::string_view name;
    ImageAddr address;
    std::uint64_t size = 0;
    std::uint8_t info = 0;              // st_info
    std::uint16_t section = kAbsolute;  // its number
  };
  static constexpr std::uint16_t kAbsolute = 0xfff1;  // SHN_ABS: of no section
  // They become .symtab.
  void set_symbols(std::vector<Symbol> symbols) { symbols_ = std::move(symbols); }

  [[nodiscard]] std::vector<std::byte> write() const;

 private:
  struct Segment {
    ImageAddr address;
    std::uint64_t memory_size;
    std::uint32_t flags;
    Bytes bytes;
  };
  struct Section {
    std::string name;
    std::uint32_t type;
    std::uint64_t flags;
    std::uint64_t address;
    Bytes bytes;
    std::uint64_t mapped_size = 0;  // of a section without contents of its own
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::uint64_t entry_size = 0;
  };
  template <class Traits>
  class File;

  Arch arch_;
  bool is_64_;
  std::uint16_t type_;
  std::vector<Segment> segments_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace ringside::elf
