#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "elf/elf_file.h"

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

// BTF, from the section .BTF. The file must outlive it. Error kNotFound where a kernel has no
// types.
[[nodiscard]] Result<std::unique_ptr<TypeSource>> open_types(const elf::ElfFile& kernel);

}  // namespace ringside::guestos
