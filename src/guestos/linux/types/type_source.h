#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "elf/elf_file.h"
#include "symbols/debug_files.h"

namespace ringside::guestos {

// Where a member is in its structure, in bytes.
struct Field {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;  // of an array, all of it

  [[nodiscard]] std::uint32_t end() const { return offset + size; }
  bool operator==(const Field&) const = default;
};

// The types that a kernel was compiled with.
class TypeSource {
 public:
  virtual ~TypeSource() = default;
  // A member of a struct or union by its path, "cred.uid", within the structure: nothing where the
  // path leads through a pointer or an array, or to a bit field.
  [[nodiscard]] virtual std::optional<Field> member(std::string_view type,
                                                    std::string_view path) const = 0;
  // Bytes of a struct, union or typedef.
  [[nodiscard]] virtual std::optional<std::uint64_t> size_of(std::string_view type) const = 0;
  // The value of an enumerator of any enum.
  [[nodiscard]] virtual std::optional<std::int64_t> enumerator(std::string_view name) const = 0;
};

// A kernel's BTF, from the section .BTF, else its DWARF, from the file itself or from where `files`
// says that debug information lies. Error kNotFound where it has neither: what would help is in the
// message.
[[nodiscard]] Result<std::unique_ptr<TypeSource>> open_types(
    std::shared_ptr<const elf::ElfFile> kernel, const symbols::DebugFileOptions& files = {});

// By DWARF alone; null where there is none.
[[nodiscard]] std::unique_ptr<TypeSource> types_by_dwarf(std::shared_ptr<const elf::ElfFile> kernel,
                                                         const symbols::DebugFileOptions& files);

}  // namespace ringside::guestos
