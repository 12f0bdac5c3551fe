#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/file.h"
#include "base/result.h"
#include "base/types.h"

struct Elf;

namespace ringside::elf {

// A PT_LOAD program header.
struct Segment {
  ImageAddr address;
  std::uint64_t memory_size = 0;
  FileOffset offset;
  std::uint64_t file_size = 0;
  bool executable = false;
  bool writable = false;

  [[nodiscard]] bool contains(ImageAddr at) const { return at - address < memory_size; }
};

// A part of a file that holds code, and nothing else where the file has sections.
struct CodeRange {
  ImageAddr address;
  Bytes bytes;  // valid as long as the ElfFile is
};

// A section's bytes are valid as long as the ElfFile is; those of SHT_NOBITS are empty.
struct Section {
  std::string_view name;
  std::uint32_t type = 0;   // sh_type
  std::uint64_t flags = 0;  // sh_flags
  ImageAddr address;
  std::uint64_t size = 0;  // in memory
  Bytes bytes;             // decompressed
};

enum class SymbolBinding : std::uint8_t { kLocal, kWeak, kGlobal };

// A function, or a label in code (asm labels have neither type nor size).
struct FunctionSymbol {
  ImageAddr address;
  std::uint64_t size = 0;
  std::string_view name;  // as in the file, not demangled
  SymbolBinding binding = SymbolBinding::kLocal;
  bool is_function = true;  // STT_FUNC or STT_GNU_IFUNC; false for a label without a type
};

struct DataSymbol {
  ImageAddr address;
  std::uint64_t size = 0;
};

// An entry of a symbol table, whatever it names.
struct TableSymbol {
  ImageAddr address;
  std::uint64_t size = 0;
  std::string_view name;  // as in the file
};

struct Note {
  std::string_view owner;
  std::uint32_t type = 0;
  Bytes description;
  // Where the description lies in memory; nothing for a note that is not loaded.
  std::optional<ImageAddr> address;
};

// An ELF file, 32 or 64 bit, little endian, mapped and read where it is asked: opening a kernel of
// 590 MB touches its headers only. All methods may be called from several threads.
class ElfFile {
 public:
  // Errors name the file and the offset.
  [[nodiscard]] static Result<std::shared_ptr<const ElfFile>> open(
      const std::filesystem::path& path);
  [[nodiscard]] static Result<std::shared_ptr<const ElfFile>> from_bytes(
      std::vector<std::byte> bytes, std::string name);
  // The same of a file that holds what from_bytes() would be given, and more behind it.
  [[nodiscard]] static Result<std::shared_ptr<const ElfFile>> from_copy(
      std::shared_ptr<const MappedFile> copy, std::size_t size, std::string name);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }  // the path, if it has one
  [[nodiscard]] Bytes file_bytes() const { return bytes_; }
  // Lies in a file as it is, so that it can be opened again. Otherwise it was unpacked, or made.
  [[nodiscard]] bool is_on_disk() const { return is_on_disk_; }
  // Bytes of memory that it is counted with where many files are kept: what is mapped costs little
  // more than what was read of its tables.
  [[nodiscard]] std::size_t memory_use() const { return kTables + owned_.size(); }
  // After work on all of it, such as reading tables: MappedFile::release_pages().
  void release_pages() const {
    if (mapped_) mapped_->release_pages();
  }
  [[nodiscard]] Arch arch() const { return arch_; }
  [[nodiscard]] bool is_64() const { return is_64_; }
  [[nodiscard]] std::uint16_t type() const { return type_; }  // e_type
  [[nodiscard]] ImageAddr entry() const { return entry_; }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }

  // The first section of that name; also finds ".debug_x" stored as ".zdebug_x". Nothing where
  // there is none, or its compressed bytes are damaged.
  [[nodiscard]] std::optional<Section> section(std::string_view name) const;

  // The notes of all PT_NOTE segments, or of all SHT_NOTE sections if there is no such segment.
  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }
  // The GNU build id, empty where there is none.
  [[nodiscard]] Bytes build_id() const;
  [[nodiscard]] std::string build_id_hex() const;

  // Functions and code labels of .symtab (of .dynsym if there is no .symtab), sorted by address.
  // Read at the first call: 70,000 functions take about 20 ms.
  [[nodiscard]] const std::vector<FunctionSymbol>& symbols() const;
  // All entries of that table, in its order; not kept.
  [[nodiscard]] std::vector<TableSymbol> all_symbols() const;
  // A symbol of any type by its name; a linear search.
  [[nodiscard]] std::optional<DataSymbol> symbol_named(std::string_view name) const;

  // Up to `size` bytes of a PT_LOAD segment as they are in the file; fewer where the segment's file
  // contents end, none outside.
  [[nodiscard]] Bytes bytes_at(ImageAddr address, std::size_t size) const;
  [[nodiscard]] bool is_code(ImageAddr address) const;
  // Where the file holds code: its sections with SHF_EXECINSTR, or the executable segments of a
  // file that has no such section. A loader's segment may hold data as well, such as a kernel.
  [[nodiscard]] std::vector<CodeRange> code() const;
  // Whether code may begin at `address`: as code() has it, but by addresses alone, for a file of
  // debug information keeps no bytes of code. A file that states no place of code (.dwo) may have
  // it anywhere.
  [[nodiscard]] bool may_hold_code(ImageAddr address) const;
  // Where code that begins at `address` ends at the latest: where a data object begins, or its
  // section or its segment ends. Not behind `address` where no code is.
  [[nodiscard]] ImageAddr end_of_code(ImageAddr address) const;

 private:
  struct SectionHeader {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
  };

  static constexpr std::size_t kTables = 64 * 1024;

  ElfFile();
  [[nodiscard]] static Result<std::shared_ptr<const ElfFile>> parse(std::unique_ptr<ElfFile> file);
  [[nodiscard]] Result<void> read_headers();
  [[nodiscard]] Result<void> read_segments();
  [[nodiscard]] Result<void> read_sections();
  void read_notes();
  void add_notes(Bytes bytes, std::uint64_t alignment, std::optional<ImageAddr> address);
  [[nodiscard]] Bytes slice(std::uint64_t offset, std::uint64_t size) const;
  [[nodiscard]] Bytes decompressed(std::size_t index) const;
  [[nodiscard]] static bool is_compressed(const SectionHeader& section);
  // A section's bytes, decompressed where they are compressed; empty where they are damaged.
  [[nodiscard]] Bytes contents_of(const SectionHeader& section) const;
  [[nodiscard]] const SectionHeader* symbol_table() const;
  template <class Visit>
  void for_each_symbol(Visit visit) const;

  std::string name_;
  std::shared_ptr<const MappedFile> mapped_;
  std::vector<std::byte> owned_;
  bool is_on_disk_ = false;
  Bytes bytes_;
  Arch arch_ = Arch::kUnknown;
  bool is_64_ = false;
  std::uint16_t type_ = 0;
  ImageAddr entry_;
  std::vector<Segment> segments_;
  std::vector<SectionHeader> sections_;
  std::vector<Note> notes_;

  ::Elf* elf_ = nullptr;  // while the headers are read
  struct ReadLater;
  std::unique_ptr<ReadLater> read_later_;
};

// The load bias of a kernel whose symbol of that name was found at `address`; nothing where there
// is no such symbol, or no address.
[[nodiscard]] std::optional<std::uint64_t> load_bias_by(const ElfFile& kernel,
                                                        std::string_view symbol, GuestVirt address);

}  // namespace ringside::elf
