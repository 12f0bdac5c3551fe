#pragma once

#include <cstdint>
#include <vector>

#include "guestos/linux/types/field_finder.h"
#include "guestos/linux/types/kernel_reader.h"

namespace ringside::guestos {

// struct maple_tree and its nodes, include/linux/maple_tree.h (Linux 6.1 and later).
struct MapleFields {
  Field parent;
  Field range_pivots;  // maple_range_64.pivot; its leaves look the same
  Field range_slots;
  Field arange_pivots;  // maple_arange_64.pivot
  Field arange_slots;
  Field dense_slots;
  std::uint64_t node_bytes = 0;

  [[nodiscard]] static MapleFields find(FieldFinder& find);
};

// The entry that a maple tree holds for the indices from `first` to `last`.
struct MapleEntry {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t entry = 0;

  bool operator==(const MapleEntry&) const = default;
};

// All entries of a tree by their indices; nothing that is empty, or the tree's own. `root` is
// ma_root's value. Error kDisturbed where nodes contradict each other or hold more than
// `max_entries`; errors of `read`. Reads at most 2 * max_entries + 32 nodes.
[[nodiscard]] Result<std::vector<MapleEntry>> read_maple_tree(const MapleFields& fields,
                                                              const KernelReader& read,
                                                              std::uint64_t root,
                                                              std::size_t max_entries);

}  // namespace ringside::guestos
