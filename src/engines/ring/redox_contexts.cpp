#include "engines/ring/redox_contexts.h"

#include <algorithm>
#include <bit>

#include "base/clock.h"
#include "base/little_endian.h"
#include "engines/ring/mapped_area.h"

namespace ringside::engines::ring {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kMostBuckets = 1 << 18;
constexpr std::uint64_t kMostBytes = 16 << 20;  // of entries
constexpr std::uint64_t kMostEntryBytes = 4096;
constexpr std::uint64_t kRestsForRead = 9;
constexpr unsigned kMostUnsteady = 20;  // reads

bool is_text(std::string_view name) {
  return !name.empty() && std::none_of(name.begin(), name.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < ' ';
  });
}

bool fits(const RedoxContextTable& table) {
  const auto is_within = [&table](std::uint64_t at, std::uint64_t bytes) {
    return at <= table.entry_bytes && bytes <= table.entry_bytes - at;
  };
  return table.entry_bytes != 0 && table.entry_bytes <= kMostEntryBytes &&
         table.length_bytes <= kWord && is_within(table.id, sizeof(std::uint32_t)) &&
         is_within(table.length, table.length_bytes) && is_within(table.text, table.text_bytes) &&
         std::max({table.ctrl, table.bucket_mask, table.items}) < kMostEntryBytes;
}

}  // namespace

Result<std::unique_ptr<RedoxContexts>> RedoxContexts::find(const RedoxContextTable& table,
                                                           const memory::PageTables& tables,
                                                           PhysicalMemory& physical) {
  if (!fits(table))
    return fail(ErrorCode::kFormat, "{}: no table of contexts' names has such entries",
                table.place);
  std::unique_ptr<RedoxContexts> contexts(new RedoxContexts(table));
  const std::uint64_t last = std::max({table.ctrl, table.bucket_mask, table.items});
  std::uint64_t walks = kWord;
  RINGSIDE_ASSIGN(contexts->header_, map_area(table.place, last + kWord, tables, physical, walks));
  if (!contexts->header_) return nullptr;
  RINGSIDE_TRY(contexts->map(tables, physical));
  return contexts;
}

Result<RedoxContexts::Header> RedoxContexts::header() const {
  Header header;
  RINGSIDE_ASSIGN(header.ctrl, header_->read_value<std::uint64_t>(AreaOffset{table_.ctrl}));
  RINGSIDE_ASSIGN(header.bucket_mask,
                  header_->read_value<std::uint64_t>(AreaOffset{table_.bucket_mask}));
  RINGSIDE_ASSIGN(header.items, header_->read_value<std::uint64_t>(AreaOffset{table_.items}));
  return header;
}

bool RedoxContexts::makes_sense(const Header& header) const {
  return header.bucket_mask < kMostBuckets && std::has_single_bit(header.buckets()) &&
         header.buckets() <= kMostBytes / table_.entry_bytes &&
         header.items <= header.bucket_mask && header.ctrl > header.buckets() * table_.entry_bytes;
}

// A table without entries has none in memory, either.
Result<void> RedoxContexts::map(const memory::PageTables& tables, PhysicalMemory& physical) {
  RINGSIDE_ASSIGN(const Header now, header());
  have_moved_ = false;
  if (now.items == 0 || !makes_sense(now)) return {};
  const std::uint64_t bytes = now.buckets() * table_.entry_bytes;
  std::uint64_t walks = kMostBuckets;
  RINGSIDE_ASSIGN(entries_, map_area(GuestVirt{now.ctrl - bytes}, bytes + now.buckets(), tables,
                                     physical, walks));
  mapped_ = now;
  have_moved_ = entries_ == nullptr;
  if (have_moved_) names_.clear();
  next_read_ns_ = 0;
  return {};
}

Result<void> RedoxContexts::read() {
  RINGSIDE_ASSIGN(const Header now, header());
  const bool has_entries = now.items != 0 && makes_sense(now);
  const bool are_mapped =
      entries_ && now.ctrl == mapped_.ctrl && now.bucket_mask == mapped_.bucket_mask;
  have_moved_ = has_entries && !are_mapped;
  if (!has_entries) names_.clear();
  return has_entries && are_mapped ? read_names(now) : Result<void>();
}

Result<void> RedoxContexts::read_names(const Header& now) {
  const std::uint64_t began = monotonic_ns();
  if (began < next_read_ns_) return {};
  RINGSIDE_ASSIGN(const bool is_steady, read_entries(now));
  unsteady_ = is_steady ? 0 : unsteady_ + 1;
  if (unsteady_ > kMostUnsteady) names_.clear();
  const std::uint64_t end = monotonic_ns();
  next_read_ns_ = end + kRestsForRead * (end - began);
  return {};
}

// False where the kernel writes between the two reads, or has moved the table before the second.
Result<bool> RedoxContexts::read_entries(const Header& now) {
  bytes_.resize(now.buckets() * (table_.entry_bytes + 1));
  again_.resize(bytes_.size());
  RINGSIDE_TRY(entries_->read(AreaOffset{0}, bytes_));
  RINGSIDE_TRY(entries_->read(AreaOffset{0}, again_));
  RINGSIDE_ASSIGN(const Header then, header());
  const bool is_steady = then == now && bytes_ == again_ && has_as_many_as(now);
  if (is_steady) take_names(now);
  return is_steady;
}

bool RedoxContexts::has_as_many_as(const Header& now) const {
  const auto control = bytes_.end() - static_cast<std::ptrdiff_t>(now.buckets());
  const auto there = std::count_if(
      control, bytes_.end(), [](std::byte one) { return (one & std::byte{0x80}) == std::byte{}; });
  return static_cast<std::uint64_t>(there) == now.items;
}

void RedoxContexts::take_names(const Header& now) {
  const Bytes entries = Bytes(bytes_).first(now.buckets() * table_.entry_bytes);
  const Bytes control = Bytes(bytes_).subspan(entries.size());
  names_.clear();
  for (std::uint64_t n = 0; n < now.buckets(); ++n) {
    if ((control[n] & std::byte{0x80}) != std::byte{}) continue;
    const Bytes entry =
        entries.subspan((now.bucket_mask - n) * table_.entry_bytes, table_.entry_bytes);
    const std::uint64_t length = load_unsigned(entry, table_.length, table_.length_bytes);
    if (length > table_.text_bytes) continue;
    const auto* const text = reinterpret_cast<const char*>(entry.data() + table_.text);
    const std::string_view name(text, length);
    if (is_text(name)) names_[load<std::uint32_t>(entry, table_.id)] = name;
  }
}

std::string_view RedoxContexts::name_of(std::uint32_t id) const {
  const auto name = names_.find(id);
  return name == names_.end() ? std::string_view() : std::string_view(name->second);
}

}  // namespace ringside::engines::ring
