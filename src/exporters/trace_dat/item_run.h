#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::exporters::trace_dat {

// A sample or an event, in numbers.
struct Item {
  std::uint64_t time = 0;               // by its source's clock
  std::uint32_t kind = 0;               // in EventKinds
  std::uint32_t group = 0;              // of the DetailedProfile
  std::vector<std::int64_t> numbers;    // one for each column of the kind
  std::vector<std::string_view> bytes;  // one for each column of bytes
};

// Items in order of time, packed: about 8 bytes a sample.
class ItemRun {
 public:
  // An item that is earlier than the one before it gets that one's time.
  void add(const Item& item);

  // Reads them from the first on.
  class Cursor {
   public:
    explicit Cursor(const ItemRun& run) : run_(&run) {}
    // Replaces `item` with the next one, whose `bytes` stay valid as long as the run. False: there
    // is no more.
    [[nodiscard]] bool next(Item& item);

   private:
    const ItemRun* run_;
    std::size_t block_ = 0;
    std::size_t offset_ = 0;
    std::uint64_t time_ = 0;
  };

 private:
  std::vector<std::string> blocks_;  // no item is in two
  std::uint64_t time_ = 0;           // of the last item
};

}  // namespace ringside::exporters::trace_dat
