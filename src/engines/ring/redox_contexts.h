#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engines/ring/ring_reader.h"
#include "memory/page_walk.h"

namespace ringside::engines::ring {

// Where a Redox kernel has the names of its contexts (DBG_ID_MAP of src/profiling.rs, since
// 2026-06): a map from u32 to ArrayString<32> in a hash table of the crate hashbrown, 0.12 to 0.17
// (RawTableInner of its src/raw/mod.rs). Entries lie in front of the control bytes, the first one
// last; the control byte of an entry that is there has bit 7 clear.
struct RedoxContextTable {
  GuestVirt place;  // of the RawTableInner
  // Bytes from its start: eight bytes each.
  std::uint64_t ctrl = 0;         // a pointer to the control bytes
  std::uint64_t bucket_mask = 0;  // entries that there is room for, less one
  std::uint64_t items = 0;        // entries
  // Bytes of an entry, and from its start.
  std::uint64_t entry_bytes = 0;
  std::uint64_t id = 0;  // u32
  std::uint64_t length = 0;
  std::uint64_t length_bytes = 0;
  std::uint64_t text = 0;
  std::uint64_t text_bytes = 0;
};

// The names of contexts by their ids, while the kernel adds others. A name is one that two reads of
// the whole table agree on, and the table has as many entries as it counts.
class RedoxContexts {
 public:
  // Null where the table is not mapped. `physical` outlives it. Errors: those of the memory.
  [[nodiscard]] static Result<std::unique_ptr<RedoxContexts>> find(const RedoxContextTable& table,
                                                                   const memory::PageTables& tables,
                                                                   PhysicalMemory& physical);

  // Reads the names anew, unless reading them would then take more than a tenth of the time. Those
  // of before stay where the kernel changes the table meanwhile, or has moved it, but not for long.
  // Errors: those of the memory.
  [[nodiscard]] Result<void> read();
  // Whether the kernel has moved the entries to where map() has to find them.
  [[nodiscard]] bool have_moved() const { return have_moved_; }
  // There are no names where it does not find them.
  [[nodiscard]] Result<void> map(const memory::PageTables& tables, PhysicalMemory& physical);
  // Empty: it has none.
  [[nodiscard]] std::string_view name_of(std::uint32_t id) const;

 private:
  struct Header {
    std::uint64_t ctrl = 0;
    std::uint64_t bucket_mask = 0;
    std::uint64_t items = 0;

    [[nodiscard]] std::uint64_t buckets() const { return bucket_mask + 1; }
    bool operator==(const Header&) const = default;
  };
  explicit RedoxContexts(const RedoxContextTable& table) : table_(table) {}

  [[nodiscard]] Result<Header> header() const;
  [[nodiscard]] bool makes_sense(const Header& header) const;
  [[nodiscard]] Result<void> read_names(const Header& header);
  [[nodiscard]] Result<bool> read_entries(const Header& header);
  [[nodiscard]] bool has_as_many_as(const Header& header) const;
  void take_names(const Header& header);

  RedoxContextTable table_;
  std::unique_ptr<AreaMemory> header_;
  std::unique_ptr<AreaMemory> entries_;  // with their control bytes behind them; null: none
  Header mapped_;                        // whose entries those are
  bool have_moved_ = false;
  unsigned unsteady_ = 0;  // reads since the last that agreed
  std::uint64_t next_read_ns_ = 0;
  std::unordered_map<std::uint32_t, std::string> names_;
  // Reused.
  std::vector<std::byte> bytes_;
  std::vector<std::byte> again_;
};

}  // namespace ringside::engines::ring
