#include "guestos/linux/types/xarray.h"

#include <bit>

namespace ringside::guestos {
namespace {

// include/linux/xarray.h: the two lowest bits of an entry. Internal entries are small numbers
// (a sibling's slot below 64, marks such as XA_RETRY_ENTRY), or pointers to nodes.
constexpr bool is_value(std::uint64_t entry) { return (entry & 1) != 0; }
constexpr bool is_internal(std::uint64_t entry) { return (entry & 3) == 2; }
constexpr bool is_node(std::uint64_t entry) { return is_internal(entry) && entry > 4096; }

class Walk {
 public:
  Walk(const XarrayFields& fields, const KernelReader& read, std::uint64_t end)
      : fields_(fields),
        read_(read),
        word_(read.word_size()),
        slot_count_(fields.slots.size / word_),
        end_(end) {}

  Result<std::vector<XarrayEntry>> run(std::uint64_t head);

 private:
  // `shift` of the node that leads to this one; 64 for the head.
  Result<void> read_node(std::uint64_t entry, std::uint64_t first, std::uint64_t above);
  void take(std::uint64_t entry, std::uint64_t first, std::uint64_t count);

  const XarrayFields& fields_;
  const KernelReader& read_;
  std::size_t word_;
  std::size_t slot_count_;
  std::uint64_t end_;
  std::vector<XarrayEntry> entries_;
};

Result<std::vector<XarrayEntry>> Walk::run(std::uint64_t head) {
  if (!std::has_single_bit(slot_count_) || slot_count_ < 2)
    return fail(ErrorCode::kUnsupported, "xarrays with nodes of {} slots are not known",
                slot_count_);
  if (is_node(head))
    RINGSIDE_TRY(read_node(head, 0, 64));
  else
    take(head, 0, 1);
  return std::move(entries_);
}

Result<void> Walk::read_node(std::uint64_t entry, std::uint64_t first, std::uint64_t above) {
  const GuestVirt address{entry - 2};
  RINGSIDE_ASSIGN(const KernelObject node,
                  read_.object(address, fields_.node_bytes, "struct xa_node"));
  const auto chunk = static_cast<unsigned>(std::countr_zero(slot_count_));
  const std::uint64_t shift = node.number(fields_.shift);
  // A node's slots together are one slot of the node above.
  const bool fits = shift % chunk == 0 && (above == 64 ? shift < 64 : shift + chunk == above);
  if (!fits)
    return fail(ErrorCode::kDisturbed, "the xarray's node at {} has a shift of {} below {}",
                address, shift, above);
  const auto slot = [&](std::size_t i) {
    return node.number_at(fields_.slots.offset + i * word_, word_);
  };
  for (std::size_t i = 0; i < slot_count_; ++i) {
    const std::uint64_t at = first + (static_cast<std::uint64_t>(i) << shift);
    if (at >= end_ || (i != 0 && at <= first)) break;
    std::uint64_t found = slot(i);
    if (is_node(found) && shift == 0)
      return fail(ErrorCode::kDisturbed, "the xarray's node at {} has nodes below its last level",
                  address);
    if (is_node(found)) {
      RINGSIDE_TRY(read_node(found, at, shift));
      continue;
    }
    // A sibling is the slot's number where the entry of several slots is.
    if (is_internal(found) && found >> 2 < slot_count_) found = slot(found >> 2);
    take(found, at, std::uint64_t{1} << shift);
  }
  return {};
}

void Walk::take(std::uint64_t entry, std::uint64_t first, std::uint64_t count) {
  if (entry == 0 || is_value(entry) || is_internal(entry)) return;
  for (std::uint64_t i = 0; i < count && first + i < end_; ++i)
    entries_.push_back({first + i, entry});
}

}  // namespace

XarrayFields XarrayFields::find(FieldFinder& find) {
  StructFinder node(find, "xa_node");
  XarrayFields fields;
  fields.shift = node.need("shift");
  fields.slots = node.need("slots");
  fields.node_bytes = node.extent();
  return fields;
}

Result<std::vector<XarrayEntry>> read_xarray(const XarrayFields& fields, const KernelReader& read,
                                             std::uint64_t head, std::uint64_t end) {
  return Walk(fields, read, end).run(head);
}

}  // namespace ringside::guestos
