#pragma once

#include <xxhash.h>

#include <string_view>

#include "base/dense_table.h"

namespace ringside::importers::callgrind {

// Names of functions, files and objects, each once. Views into the inputs, which must outlive it.
class Texts {
 public:
  Texts() { (void)texts_.find_or_add({}); }
  // 0 for the empty text, for "???", which stands for names that are not known, and where memory
  // allows no more.
  [[nodiscard]] std::uint32_t id(std::string_view text) {
    constexpr std::size_t kMost = 2 << 20;
    if (text == "???" || (texts_.size() >= kMost && texts_.find(text) == nullptr)) return 0;
    return texts_.find_or_add(text);
  }
  [[nodiscard]] std::string_view operator[](std::uint32_t id) const { return texts_[id].key; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  struct Entry {
    std::string_view key;
  };
  struct Hash {
    std::uint64_t operator()(std::string_view text) const {
      return XXH3_64bits(text.data(), text.size());
    }
  };
  DenseTable<std::string_view, Entry, Hash> texts_;
};

// The names that a file gives numbers to: "(3) main" where one comes for the first time, and "(3)"
// from then on. Functions, files and objects have numbers of their own.
class NumberedNames {
 public:
  explicit NumberedNames(Texts& texts) : texts_(texts) {}
  // The text's id. A number that was not given yet is a name like others.
  [[nodiscard]] std::uint32_t id(std::string_view name);

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t text = 0;
  };
  struct Hash {
    std::uint64_t operator()(std::uint64_t number) const { return mixed(number); }
  };

  Texts& texts_;
  DenseTable<std::uint64_t, Entry, Hash> ids_;
};

}  // namespace ringside::importers::callgrind
