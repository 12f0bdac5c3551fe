#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/dwarf/type_names.h"

namespace ringside::symbols {

// The types that a program was compiled with, by DWARF 2 to 5; type units as DWARF 5 has them, and
// what dwz moved elsewhere. Units are gone through until what is asked for has been found; what is
// in none of them is known from .debug_str where names are there. Damaged information gives no
// answer, or a wrong one, never an error. One thread at a time.
class DwarfTypes {
 public:
  struct Member {
    std::uint64_t offset = 0;  // bytes from the start of the structure that was asked for
    std::uint64_t size = 0;    // bytes; of an array, all of it
    bool is_bit_field = false;

    bool operator==(const Member&) const = default;
  };
  using Type = dwarf::EntryPlace;  // the entry of a type, in a file of this
  struct Part {
    Type type;
    std::uint64_t offset = 0;  // bytes from the start of the structure that was asked for
  };

  // Null if the file has no debug information. `files` may be null.
  [[nodiscard]] static std::unique_ptr<DwarfTypes> from_elf(
      std::shared_ptr<const elf::ElfFile> file,
      std::shared_ptr<SupplementaryFiles> files = nullptr);

  // A member of a struct or union, or of a typedef for one, by its path: "thread.sp"; members of
  // unnamed structs and unions count as the outer one's, as in C. Nothing where there is none, or
  // the path leads through a pointer or an array.
  [[nodiscard]] std::optional<Member> member(std::string_view type, std::string_view path);
  [[nodiscard]] std::optional<Member> member(const Type& type, std::string_view path);
  // Bytes of a struct, union or typedef; nothing for functions and void.
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view type);
  [[nodiscard]] std::optional<std::uint64_t> size_of(const Type& type);
  // The type of a variable outside of functions and types, by its namespaces and its name:
  // "kernel::profiling::MAP". Units are gone through until it is found.
  [[nodiscard]] std::optional<Type> type_of_variable(std::string_view path);
  // The first struct or union, `outer` itself or at any depth in it, whose name begins so.
  [[nodiscard]] std::optional<Part> part_of(const Type& outer, std::string_view prefix);
  // A template's argument by the name of its parameter, as C++ and Rust compilers write it.
  [[nodiscard]] std::optional<Type> type_parameter(const Type& type, std::string_view name);
  // The value of an enumerator of any enum.
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::string_view name) {
    return names_->enumerator(name);
  }

 private:
  struct Entry;
  // A member with its type, which is nothing for void.
  struct Found {
    Member member;
    std::optional<dwarf::EntryPlace> type;
  };

  explicit DwarfTypes(std::shared_ptr<const elf::ElfFile> file)
      : main_(std::make_unique<dwarf::DebugFile>(std::move(file))) {}
  // False once the question at hand has cost too much, as damaged information can make it.
  bool spend(std::uint64_t cost);
  [[nodiscard]] std::optional<Entry> read(const dwarf::EntryPlace& place);
  // The type behind typedefs and qualifiers, where it is defined.
  [[nodiscard]] std::optional<Entry> resolve(dwarf::EntryPlace place);
  [[nodiscard]] std::optional<dwarf::EntryPlace> follow(const Entry& from,
                                                        const dwarf::Value& reference);
  [[nodiscard]] std::optional<dwarf::EntryPlace> by_signature(std::uint64_t signature);
  [[nodiscard]] std::optional<std::uint64_t> bytes_of(dwarf::EntryPlace type);
  [[nodiscard]] std::uint64_t count_elements(const Entry& array);
  template <class Visit>
  void visit_members(const Entry& outer, Visit visit);
  [[nodiscard]] std::optional<Part> part(const Entry& outer, std::string_view prefix,
                                         unsigned depth);
  [[nodiscard]] std::optional<Found> direct_member(const Entry& outer, std::string_view name,
                                                   unsigned depth);

  std::unique_ptr<dwarf::DebugFile> main_;
  std::unique_ptr<dwarf::DebugFile> alternate_;
  std::unique_ptr<dwarf::TypeNames> names_;
  std::uint64_t budget_ = 0;
};

}  // namespace ringside::symbols
