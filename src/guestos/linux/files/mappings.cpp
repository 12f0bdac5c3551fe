#include "guestos/linux/files/mappings.h"

namespace ringside::guestos {
namespace {

constexpr std::size_t kMaxMappings = 1 << 20;  // sysctl vm.max_map_count is 65,530 by default

class MappingList {
 public:
  MappingList(const LinuxTypes& types, const KernelReader& read, GuestVirt mm)
      : types_(types), read_(read), mm_(mm) {}

  Result<std::vector<LinuxMapping>> run();

 private:
  Result<void> read_list(GuestVirt first);
  Result<void> read_tree(std::uint64_t root);
  // Adds the mapping at `vma` and returns what follows it in the list.
  Result<GuestVirt> add(GuestVirt vma);
  Result<std::string> special_name(const KernelObject& vma) const;

  const LinuxTypes& types_;
  const KernelReader& read_;
  GuestVirt mm_;
  std::size_t limit_ = 0;
  std::vector<LinuxMapping> mappings_;
};

Result<std::vector<LinuxMapping>> MappingList::run() {
  RINGSIDE_ASSIGN(const KernelObject mm, read_.object(mm_, types_.mm.bytes, "struct mm_struct"));
  const std::uint64_t count = mm.number(types_.mm.map_count);
  if (count > kMaxMappings)
    return fail(ErrorCode::kDisturbed, "the address space at {} has {} mappings", mm_, count);
  limit_ = count;
  if (types_.mm.maple_root)
    RINGSIDE_TRY(read_tree(mm.number(*types_.mm.maple_root)));
  else
    RINGSIDE_TRY(read_list(mm.pointer(*types_.mm.mmap)));
  if (mappings_.size() != count)
    return fail(ErrorCode::kDisturbed, "the address space at {} has {} mappings, and {} were found",
                mm_, count, mappings_.size());
  return std::move(mappings_);
}

Result<void> MappingList::read_list(GuestVirt first) {
  for (GuestVirt vma = first; vma.value != 0;) {
    if (mappings_.size() == limit_)
      return fail(ErrorCode::kDisturbed, "the list of mappings at {} does not end", mm_);
    RINGSIDE_ASSIGN(vma, add(vma));
  }
  return {};
}

Result<void> MappingList::read_tree(std::uint64_t root) {
  RINGSIDE_ASSIGN(const auto entries, read_maple_tree(types_.maple, read_, root, limit_));
  for (const MapleEntry& entry : entries) {
    RINGSIDE_TRY(add(GuestVirt{entry.entry}));
    const LinuxMapping& added = mappings_.back();
    if (added.start.value != entry.first || added.end.value - 1 != entry.last)
      return fail(ErrorCode::kDisturbed,
                  "the mapping at {} is not at {:#x} to {:#x}, its place in "
                  "the tree",
                  GuestVirt{entry.entry}, entry.first, entry.last);
  }
  return {};
}

Result<GuestVirt> MappingList::add(GuestVirt at) {
  const MappingFields& fields = types_.mapping;
  RINGSIDE_ASSIGN(const KernelObject vma, read_.object(at, fields.bytes, "struct vm_area_struct"));
  LinuxMapping mapping{.start = vma.pointer(fields.start),
                       .end = vma.pointer(fields.end),
                       .flags = vma.number(fields.flags),
                       .file = vma.pointer(fields.file),
                       .offset = {},
                       .name = {}};
  const GuestVirt before = mappings_.empty() ? GuestVirt{0} : mappings_.back().end;
  if (vma.pointer(fields.mm) != mm_ || mapping.start >= mapping.end || mapping.start < before ||
      mapping.start.value % types_.page_size != 0 || mapping.end.value % types_.page_size != 0)
    return fail(ErrorCode::kDisturbed, "{} holds no mapping of the address space at {}", at, mm_);
  if (mapping.file.value != 0) {
    mapping.offset = FileOffset{vma.number(fields.page_offset) * types_.page_size};
  } else if (mapping.executable()) {
    RINGSIDE_ASSIGN(mapping.name, special_name(vma));
  }
  mappings_.push_back(std::move(mapping));
  return fields.next ? vma.pointer(*fields.next) : GuestVirt{0};
}

// _install_special_mapping() (mm/mmap.c) leaves a struct vm_special_mapping in vm_private_data.
// Anonymous memory has no vm_ops; what else has no file is not named.
Result<std::string> MappingList::special_name(const KernelObject& vma) const {
  constexpr std::size_t kMaxName = 32;
  const GuestVirt special = vma.pointer(types_.mapping.private_data);
  if (vma.number(types_.mapping.ops) == 0 || special.value == 0) return std::string();
  const auto name_at = read_.pointer(special + types_.special_mapping_name.offset);
  if (!name_at) {
    if (is_of_memory(name_at.error().code)) return std::string();
    return tl::unexpected<Error>(name_at.error());
  }
  RINGSIDE_ASSIGN(std::string name, read_.text(*name_at, kMaxName));
  const bool is_name =
      name.size() > 2 && name.size() < kMaxName && name.front() == '[' &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789-", 1) == name.size() - 1 &&
      name.back() == ']';
  return is_name ? std::move(name) : std::string();
}

}  // namespace

Result<std::vector<LinuxMapping>> read_mappings(const LinuxTypes& types, const KernelReader& read,
                                                GuestVirt mm) {
  return MappingList(types, read, mm).run();
}

}  // namespace ringside::guestos
