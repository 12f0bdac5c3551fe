#include "guestos/linux/files/path_lookup.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "guestos/linux/types/field_finder.h"

namespace ringside::guestos {
namespace {

constexpr std::size_t kMaxMembers = 20'000;  // of all lists together
constexpr unsigned kMaxStacked = 32;         // mounts, one on the root of the other

class Lookup {
 public:
  Lookup(const LinuxTypes& types, const PathLookupFields& fields, const KernelReader& read)
      : types_(types), fields_(fields), read_(read) {}

  Result<std::optional<GuestFile>> run(GuestVirt task, std::string_view path);

 private:
  using Matches = std::function<Result<bool>(const KernelObject&)>;

  Result<void> enter_root(GuestVirt task);
  // False where the folder has no such name.
  Result<bool> descend(std::string_view name);
  Result<void> cross_mounts();
  Result<std::optional<GuestFile>> file_here(std::string_view path);

  // The first member of a list that matches.
  Result<std::optional<KernelObject>> find_in(const KernelObject& owner, const ListFields& list,
                                              const char* what, const Matches& matches);
  Result<bool> is_named(const KernelObject& dentry, std::string_view name) const;
  Result<KernelObject> read_dentry() const {
    return read_.object(dentry_, fields_.names.member_bytes, "struct dentry");
  }
  // The next of a list's head or node, which both structures have first.
  GuestVirt next(const KernelObject& object, Field list) const {
    return {object.number_at(list.offset, read_.word_size())};
  }

  const LinuxTypes& types_;
  const PathLookupFields& fields_;
  const KernelReader& read_;
  GuestVirt mount_;   // struct mount
  GuestVirt dentry_;  // in it
  std::size_t members_read_ = 0;
};

Result<std::optional<GuestFile>> Lookup::run(GuestVirt task, std::string_view path) {
  RINGSIDE_TRY(enter_root(task));
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (name.empty()) continue;
    RINGSIDE_ASSIGN(const bool is_there, descend(name));
    if (!is_there) return std::nullopt;
    RINGSIDE_TRY(cross_mounts());
  }
  return file_here(path);
}

Result<void> Lookup::enter_root(GuestVirt task) {
  RINGSIDE_ASSIGN(const GuestVirt fs_at, read_.pointer(task + fields_.fs.offset));
  RINGSIDE_ASSIGN(const KernelObject fs, read_.object(fs_at, fields_.fs_bytes, "struct fs_struct"));
  mount_ = fs.pointer(fields_.root_mount) - types_.mount.vfsmount.offset;
  dentry_ = fs.pointer(fields_.root_dentry);
  return {};
}

Result<bool> Lookup::descend(std::string_view name) {
  RINGSIDE_ASSIGN(const KernelObject folder, read_dentry());
  const auto matches = [&](const KernelObject& dentry) -> Result<bool> {
    if (dentry.pointer(types_.dentry.parent) != folder.address())
      return fail(ErrorCode::kDisturbed, "the dentry at {} is not of the folder at {}",
                  dentry.address(), folder.address());
    return is_named(dentry, name);
  };
  RINGSIDE_ASSIGN(const auto found, find_in(folder, fields_.names, "struct dentry", matches));
  if (!found) return false;
  dentry_ = found->address();
  return true;
}

// A file that was unlinked, or that another one was renamed over, keeps its name and its place in
// the list while it is open.
Result<bool> Lookup::is_named(const KernelObject& dentry, std::string_view name) const {
  if (dentry.number(types_.dentry.name_length) != name.size() ||
      dentry.number(types_.dentry.hashed_by) == 0)
    return false;
  RINGSIDE_ASSIGN(const std::string text,
                  read_.text(dentry.pointer(types_.dentry.name), name.size()));
  return text == name;
}

// __lookup_mnt() in fs/namespace.c, but by the list of the mount: the hash table has a seed.
Result<void> Lookup::cross_mounts() {
  for (unsigned stacked = 0; stacked < kMaxStacked; ++stacked) {
    RINGSIDE_ASSIGN(const KernelObject mount,
                    read_.object(mount_, fields_.mounts.member_bytes, "struct mount"));
    const auto matches = [&](const KernelObject& other) -> Result<bool> {
      if (other.pointer(types_.mount.parent) != mount_)
        return fail(ErrorCode::kDisturbed, "the mount at {} is not on the one at {}",
                    other.address(), mount_);
      return other.pointer(types_.mount.mountpoint) == dentry_;
    };
    RINGSIDE_ASSIGN(const auto found, find_in(mount, fields_.mounts, "struct mount", matches));
    if (!found) return {};
    mount_ = found->address();
    dentry_ = found->pointer(types_.mount.root);
  }
  return fail(ErrorCode::kDisturbed, "the mounts at {} do not end", mount_);
}

Result<std::optional<KernelObject>> Lookup::find_in(const KernelObject& owner,
                                                    const ListFields& list, const char* what,
                                                    const Matches& matches) {
  const GuestVirt end = owner.address_of(list.head);  // of a list_head; an hlist_head ends with 0
  std::unordered_set<std::uint64_t> seen;
  for (GuestVirt node = next(owner, list.head); node != end && node.value != 0;) {
    if (members_read_++ == kMaxMembers)
      return fail(ErrorCode::kUnsupported,
                  "the lists of names and mounts up to the one at {} have more than {} members",
                  end, kMaxMembers);
    if (!seen.insert(node.value).second)
      return fail(ErrorCode::kDisturbed, "the list at {} does not end", end);
    RINGSIDE_ASSIGN(KernelObject member,
                    read_.object(node - list.node.offset, list.member_bytes, what));
    RINGSIDE_ASSIGN(const bool is_it, matches(member));
    if (is_it) return member;
    node = next(member, list.node);
  }
  return std::nullopt;
}

Result<std::optional<GuestFile>> Lookup::file_here(std::string_view path) {
  RINGSIDE_ASSIGN(const KernelObject dentry, read_dentry());
  GuestFile file;
  file.path = path;
  file.inode = dentry.pointer(fields_.inode);
  if (file.inode.value == 0) return std::nullopt;
  RINGSIDE_ASSIGN(const KernelObject inode,
                  read_.object(file.inode, fields_.inode_bytes, "struct inode"));
  if (!S_ISREG(inode.number(fields_.mode))) return std::nullopt;
  file.mapping = inode.pointer(fields_.mapping);
  RINGSIDE_ASSIGN(file.identity, read_inode_identity(types_, read_, file.inode));
  return file;
}

}  // namespace

Result<PathLookupFields> PathLookupFields::of(const elf::ElfFile& kernel, const TypeSource& types) {
  FieldFinder find(types);
  PathLookupFields fields;
  fields.fs = find.need("task_struct", {"fs"});
  StructFinder fs(find, "fs_struct");
  fields.root_mount = fs.need("root.mnt");
  fields.root_dentry = fs.need("root.dentry");
  fields.fs_bytes = fs.extent();
  StructFinder dentry(find, "dentry");
  fields.names.head = dentry.need("d_children", "d_subdirs");  // hlists since 6.8
  fields.names.node = dentry.need("d_sib", "d_child");
  fields.inode = dentry.need("d_inode");
  (void)dentry.need("d_parent");
  (void)dentry.need("d_name.name");
  (void)dentry.need("d_name.len");
  (void)dentry.need("d_hash.pprev");
  fields.names.member_bytes = dentry.extent();
  StructFinder mount(find, "mount");
  fields.mounts.head = mount.need("mnt_mounts");
  fields.mounts.node = mount.need("mnt_child");
  (void)mount.need("mnt_parent");
  (void)mount.need("mnt_mountpoint");
  (void)mount.need("mnt.mnt_root");
  fields.mounts.member_bytes = mount.extent();
  StructFinder inode(find, "inode");
  fields.mode = inode.need("i_mode");
  fields.mapping = inode.need("i_mapping");
  fields.inode_bytes = inode.extent();
  RINGSIDE_TRY(find.result(kernel.name()));
  return fields;
}

Result<std::optional<GuestFile>> find_guest_file(const LinuxTypes& types,
                                                 const PathLookupFields& fields,
                                                 const KernelReader& read, GuestVirt task,
                                                 std::string_view path) {
  return Lookup(types, fields, read).run(task, path);
}

}  // namespace ringside::guestos
