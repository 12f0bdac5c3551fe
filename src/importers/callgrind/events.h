#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "recording/sources.h"

namespace ringside::importers::callgrind {

// The events that the parts of files count, in the order of first sight. Views into the inputs,
// which must outlive it.
class Events {
 public:
  // Adds those of a file, from all its lines "events:" and "event:".
  void add(std::string_view text);

  [[nodiscard]] std::size_t count() const { return names_.size(); }
  // Its place among them; count() where it is none of them.
  [[nodiscard]] std::size_t find(std::string_view name) const;
  // More than recording::kMostColumns; the others are left out.
  [[nodiscard]] bool are_too_many() const { return are_too_many_; }
  // As values of a source: "Ir" counts instructions, system calls' times have the unit that their
  // long name says. The names that ringside's own export gives have units, too.
  [[nodiscard]] std::vector<recording::ValueType> values(bool is_own) const;

 private:
  std::vector<std::string_view> names_;
  std::map<std::string_view, std::string_view> long_names_;
  bool are_too_many_ = false;
};

}  // namespace ringside::importers::callgrind
