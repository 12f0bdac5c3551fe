#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>

#include "base/dense_table.h"
#include "base/stack.h"
#include "elf/image_map.h"
#include "recording/writer.h"
#include "symbols/symbol_table.h"

namespace ringside::session {

// Records the names of the functions that stacks have frames in, each once and before its first
// frame: the whole symbols of a kernel would be most of a short recording.
class UsedFunctions {
 public:
  explicit UsedFunctions(recording::Writer& writer) : writer_(&writer) {}

  // `image` has the number `id` in the recording; it is one of those that note() gets later. Some
  // functions are recorded at once: a reader that is given another file compares them. So are those
  // of earlier stacks.
  [[nodiscard]] Result<void> add(const elf::Image& image, std::uint32_t id);
  // The guest has booted again: what lies at an address is another function, of one image (null: of
  // none) or of images that are still to be added.
  void forget_all_but(const elf::Image* kept);
  // For a stack that is about to be recorded.
  [[nodiscard]] Result<void> note(const Stack& stack, const elf::ImageMap& images);

 private:
  struct Known {
    std::uint32_t id = 0;
    symbols::SymbolTable table;
    std::unordered_set<std::uint64_t> recorded;  // by their starts
  };
  [[nodiscard]] Result<void> record(const elf::Image& image, Known& known,
                                    const symbols::Symbol& symbol);
  [[nodiscard]] Result<void> record_at(const elf::Image& image, Known& known, GuestVirt at);

  recording::Writer* writer_;
  std::map<const elf::Image*, Known> images_;
  struct Address {
    std::uint64_t key;
  };
  struct Hash {
    std::uint64_t operator()(std::uint64_t address) const { return mixed(address); }
  };
  DenseTable<std::uint64_t, Address, Hash> seen_;  // of all stacks
};

}  // namespace ringside::session
