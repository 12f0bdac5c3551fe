#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/dwarf/debug_file.h"

namespace ringside::symbols::dwarf {

// An entry of a file's .debug_info.
struct EntryPlace {
  DebugFile* file = nullptr;
  std::uint64_t entry = 0;
};

// Where types are defined, and the values of enumerators, by their names. Units are gone through
// one after the other, and no further than to the name that is asked for. Only what stands directly
// in a unit, as all types of C do.
class TypeNames {
 public:
  // `alternate` is the file that dwz moved common entries to, or null. Both must outlive it.
  TypeNames(DebugFile& file, DebugFile* alternate);

  // A struct or union by its tag, or a typedef; never a mere declaration. The first counts where
  // there are several.
  [[nodiscard]] std::optional<EntryPlace> find(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::string_view name);
  // Empty where the string is in a file that is not known, or is none.
  [[nodiscard]] std::string_view string(const Unit& unit, const Value& value) const;

 private:
  // Names that were met: by their place in .debug_str, for nearly all are there, and most types of
  // C come with a header into each of thousands of units.
  using Met = std::vector<bool>;
  struct Search {
    DebugFile* file = nullptr;
    std::size_t next = 0;  // of its units
    Met structs;
    Met typedefs;
    Met enumerators;
  };
  struct Entry {
    Value name;
    bool is_declaration = false;
    std::optional<std::int64_t> value;
  };

  // False when there are none left.
  bool read_next_unit();
  void read(Search& search, const Unit& unit);
  // The name of an entry that may be new.
  [[nodiscard]] std::string_view new_name(const Unit& unit, const Entry& entry, Met& met);
  [[nodiscard]] bool may_have(std::string_view name) const;
  template <class Known>
  [[nodiscard]] auto search_for(std::string_view name, Known known);

  std::vector<Search> searches_;
  DebugFile* alternate_;
  // Names that stand in the units themselves: short ones, in what some compilers write all.
  std::size_t longest_in_place_ = 0;
  bool has_names_in_place_ = false;
  std::unordered_map<std::string_view, EntryPlace> structs_;
  std::unordered_map<std::string_view, EntryPlace> typedefs_;
  std::unordered_map<std::string_view, std::int64_t> enumerators_;
};

}  // namespace ringside::symbols::dwarf
