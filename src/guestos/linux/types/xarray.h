#pragma once

#include <cstdint>
#include <vector>

#include "guestos/linux/types/field_finder.h"
#include "guestos/linux/types/kernel_reader.h"

namespace ringside::guestos {

// struct xarray and its nodes, include/linux/xarray.h.
struct XarrayFields {
  Field shift;  // xa_node
  Field slots;
  std::uint32_t node_bytes = 0;

  [[nodiscard]] static XarrayFields find(FieldFinder& find);
};

// A pointer that an xarray holds for an index.
struct XarrayEntry {
  std::uint64_t index = 0;
  std::uint64_t pointer = 0;

  bool operator==(const XarrayEntry&) const = default;
};

// The pointers of an xarray for the indices below `end`, by their index; an entry of several
// indices once for each. Values, which stand for pages that were evicted or swapped out, and the
// array's own marks are left out. `head` is xa_head's value. Error kDisturbed where nodes
// contradict each other; errors of `read`. Reads at most end / 64 + 16 nodes of each level.
[[nodiscard]] Result<std::vector<XarrayEntry>> read_xarray(const XarrayFields& fields,
                                                           const KernelReader& read,
                                                           std::uint64_t head, std::uint64_t end);

}  // namespace ringside::guestos
