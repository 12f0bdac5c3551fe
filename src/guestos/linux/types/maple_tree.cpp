#include "guestos/linux/types/maple_tree.h"

namespace ringside::guestos {
namespace {

// include/linux/maple_tree.h: nodes are aligned to 256 bytes; a pointer to one carries its type in
// bits 3 to 6. enum maple_type.
constexpr std::uint64_t kNodeMask = 0xff;
enum Type : std::uint64_t { kDense = 0, kLeaf = 1, kRange = 2, kAllocationRange = 3 };

constexpr Type type_of(std::uint64_t pointer) { return static_cast<Type>(pointer >> 3 & 0xf); }

// xa_is_internal() and xa_is_node(), include/linux/xarray.h: the root is marked like a node of an
// xarray. Smaller ones are the tree's own marks.
constexpr bool is_internal(std::uint64_t entry) { return (entry & 3) == 2; }
constexpr bool is_node(std::uint64_t entry) { return is_internal(entry) && entry > 4096; }

struct Subtree {
  std::uint64_t pointer = 0;  // with its type
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t parent = 0;  // the node's address; 0 for the root
  unsigned depth = 0;
};

class Walk {
 public:
  Walk(const MapleFields& fields, const KernelReader& read, std::size_t max_entries)
      : fields_(fields), read_(read), word_(read.word_size()), max_entries_(max_entries) {}

  Result<std::vector<MapleEntry>> run(std::uint64_t root);

 private:
  Result<void> read_node(const Subtree& at);
  Result<void> read_slots(const Subtree& at, const KernelObject& node, Field pivots, Field slots);
  Result<void> take(const Subtree& at, std::uint64_t first, std::uint64_t last,
                    std::uint64_t entry);

  const MapleFields& fields_;
  const KernelReader& read_;
  std::size_t word_;
  std::size_t max_entries_;
  std::vector<Subtree> waiting_;   // the next one last
  std::vector<Subtree> children_;  // of the node at hand
  std::vector<MapleEntry> entries_;
};

Result<std::vector<MapleEntry>> Walk::run(std::uint64_t root) {
  const std::uint64_t last = word_ == 8 ? ~std::uint64_t{0} : 0xffffffff;
  if (!is_node(root)) {
    if (root != 0 && !is_internal(root)) entries_.push_back({0, 0, root});
    return std::move(entries_);
  }
  waiting_.push_back({.pointer = root & ~std::uint64_t{2}, .first = 0, .last = last});
  std::size_t nodes_left = 2 * max_entries_ + 32;
  while (!waiting_.empty()) {
    if (nodes_left-- == 0)
      return fail(ErrorCode::kDisturbed, "the maple tree has more nodes than {} entries need",
                  max_entries_);
    const Subtree next = waiting_.back();
    waiting_.pop_back();
    RINGSIDE_TRY(read_node(next));
  }
  return std::move(entries_);
}

Result<void> Walk::read_node(const Subtree& at) {
  const GuestVirt address{at.pointer & ~kNodeMask};
  RINGSIDE_ASSIGN(const KernelObject node,
                  read_.object(address, fields_.node_bytes, "struct maple_node"));
  const std::uint64_t parent = node.number(fields_.parent) & ~kNodeMask;
  // A node that is no longer used is its own parent; a node that was replaced has left its children
  // to another one.
  if (parent == address.value || (at.parent != 0 && parent != at.parent))
    return fail(ErrorCode::kDisturbed, "the maple tree changes: the node at {} was replaced",
                address);
  switch (type_of(at.pointer)) {
    case kDense:
      for (std::size_t i = 0; i < fields_.node_bytes / word_ - 1 && i <= at.last - at.first; ++i)
        RINGSIDE_TRY(take(at, at.first + i, at.first + i,
                          node.number_at(fields_.dense_slots.offset + i * word_, word_)));
      return {};
    case kLeaf:
    case kRange:
      return read_slots(at, node, fields_.range_pivots, fields_.range_slots);
    case kAllocationRange:
      return read_slots(at, node, fields_.arange_pivots, fields_.arange_slots);
  }
  return fail(ErrorCode::kDisturbed, "the maple tree's node at {} is of an unknown type {}",
              address, at.pointer >> 3 & 0xf);
}

// A pivot is the last index of its slot; the last slot in use has none, or 0.
Result<void> Walk::read_slots(const Subtree& at, const KernelObject& node, Field pivots,
                              Field slots) {
  children_.clear();
  std::uint64_t first = at.first;
  for (std::size_t i = 0; i < slots.size / word_; ++i) {
    std::uint64_t last = 0;
    if (i < pivots.size / word_) last = node.number_at(pivots.offset + i * word_, word_);
    if (last == 0 && i > 0) last = at.last;
    if (last < first || last > at.last)
      return fail(ErrorCode::kDisturbed,
                  "the maple tree's node at {} has the index {:#x} outside of {:#x} to {:#x}",
                  node.address(), last, first, at.last);
    RINGSIDE_TRY(take(at, first, last, node.number_at(slots.offset + i * word_, word_)));
    if (last == at.last) break;
    first = last + 1;
  }
  waiting_.insert(waiting_.end(), children_.rbegin(), children_.rend());
  return {};
}

Result<void> Walk::take(const Subtree& at, std::uint64_t first, std::uint64_t last,
                        std::uint64_t entry) {
  const Type type = type_of(at.pointer);
  if (type == kDense || type == kLeaf) {
    if (entry == 0 || is_internal(entry)) return {};
    if (entries_.size() == max_entries_)
      return fail(ErrorCode::kDisturbed, "the maple tree has more than {} entries", max_entries_);
    entries_.push_back({first, last, entry});
    return {};
  }
  constexpr unsigned kMaxDepth = 31;  // MAPLE_HEIGHT_MAX
  if (at.depth == kMaxDepth || (entry & ~kNodeMask) == 0)
    return fail(ErrorCode::kDisturbed, "the maple tree's node at {:#x} has no subtree for {:#x}",
                at.pointer & ~kNodeMask, first);
  children_.push_back({entry, first, last, at.pointer & ~kNodeMask, at.depth + 1});
  return {};
}

}  // namespace

MapleFields MapleFields::find(FieldFinder& find) {
  return {
      .parent = find.need("maple_node", {"parent"}),
      .range_pivots = find.need("maple_range_64", {"pivot"}),
      .range_slots = find.need("maple_range_64", {"slot"}),
      .arange_pivots = find.need("maple_arange_64", {"pivot"}),
      .arange_slots = find.need("maple_arange_64", {"slot"}),
      .dense_slots = find.need("maple_node", {"slot"}),
      .node_bytes = std::min<std::uint64_t>(find.need_size("maple_node"), 4096),
  };
}

Result<std::vector<MapleEntry>> read_maple_tree(const MapleFields& fields, const KernelReader& read,
                                                std::uint64_t root, std::size_t max_entries) {
  return Walk(fields, read, max_entries).run(root);
}

}  // namespace ringside::guestos
