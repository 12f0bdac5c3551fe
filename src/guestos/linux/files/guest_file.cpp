#include "guestos/linux/files/guest_file.h"

namespace ringside::guestos {
namespace {

constexpr unsigned kMaxSteps = 256;
constexpr std::size_t kMaxName = 255;   // NAME_MAX
constexpr std::size_t kMaxPath = 4096;  // PATH_MAX

class PathWalk {
 public:
  PathWalk(const LinuxTypes& types, const KernelReader& read) : types_(types), read_(read) {}

  // From a dentry and the struct vfsmount that it was reached by.
  Result<std::string> run(GuestVirt dentry, GuestVirt vfsmount);
  [[nodiscard]] bool deleted() const { return deleted_; }

 private:
  Result<void> prepend(const KernelObject& dentry);

  const LinuxTypes& types_;
  const KernelReader& read_;
  std::string path_;
  bool deleted_ = false;
};

// d_unlinked(): not in the hash of names any more, and no root.
bool is_unlinked(const DentryFields& fields, const KernelObject& dentry) {
  return dentry.number(fields.hashed_by) == 0 && dentry.pointer(fields.parent) != dentry.address();
}

Result<std::string> PathWalk::run(GuestVirt dentry_at, GuestVirt vfsmount) {
  GuestVirt mount_at = vfsmount - types_.mount.vfsmount.offset;
  RINGSIDE_ASSIGN(KernelObject mount, read_.object(mount_at, types_.mount.bytes, "struct mount"));
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    RINGSIDE_ASSIGN(const KernelObject dentry,
                    read_.object(dentry_at, types_.dentry.bytes, "struct dentry"));
    if (step == 0) deleted_ = is_unlinked(types_.dentry, dentry);
    const bool is_mount_root = dentry_at == mount.pointer(types_.mount.root);
    if (is_mount_root) {
      const GuestVirt parent = mount.pointer(types_.mount.parent);
      if (parent == mount.address()) return path_.empty() ? "/" : std::move(path_);
      dentry_at = mount.pointer(types_.mount.mountpoint);
      RINGSIDE_ASSIGN(mount, read_.object(parent, types_.mount.bytes, "struct mount"));
      continue;
    }
    const GuestVirt parent = dentry.pointer(types_.dentry.parent);
    // A root that nothing was mounted by: memfd_create() and its like name their files so.
    RINGSIDE_TRY(prepend(dentry));
    if (parent == dentry_at) return std::move(path_);
    dentry_at = parent;
  }
  return fail(ErrorCode::kDisturbed, "the path of the mount at {} does not come to a root",
              mount_at);
}

Result<void> PathWalk::prepend(const KernelObject& dentry) {
  const std::uint64_t length = dentry.number(types_.dentry.name_length);
  if (length > kMaxName || path_.size() + length + 1 > kMaxPath)
    return fail(ErrorCode::kDisturbed, "the name of the dentry at {} is too long ({} bytes)",
                dentry.address(), length);
  RINGSIDE_ASSIGN(std::string name, read_.text(dentry.pointer(types_.dentry.name), length));
  if (name.size() != length)
    return fail(ErrorCode::kDisturbed, "the name of the dentry at {} is not {} bytes long",
                dentry.address(), length);
  if (name.empty() || name.front() != '/') name.insert(0, 1, '/');
  path_.insert(0, name);
  return {};
}

}  // namespace

Result<FileIdentity> read_inode_identity(const LinuxTypes& types, const KernelReader& read,
                                         GuestVirt inode_at) {
  RINGSIDE_ASSIGN(const KernelObject inode,
                  read.object(inode_at, types.inode.bytes, "struct inode"));
  RINGSIDE_ASSIGN(const KernelObject super_block,
                  read.object(inode.pointer(types.inode.super_block),
                              types.super_block_device.end(), "struct super_block"));
  FileIdentity identity;
  identity.device = super_block.number(types.super_block_device);
  identity.number = inode.number(types.inode.number);
  identity.generation = inode.number(types.inode.generation);
  identity.size = inode.number(types.inode.size);
  if (types.inode.changed) identity.changed = inode.number(*types.inode.changed);
  if (types.inode.changed_ns) identity.changed_ns = inode.number(*types.inode.changed_ns);
  return identity;
}

Result<FileIdentity> read_file_identity(const LinuxTypes& types, const KernelReader& read,
                                        GuestVirt file_at) {
  RINGSIDE_ASSIGN(const KernelObject file, read.object(file_at, types.file.bytes, "struct file"));
  return read_inode_identity(types, read, file.pointer(types.file.inode));
}

Result<GuestFile> read_guest_file(const LinuxTypes& types, const KernelReader& read,
                                  GuestVirt file_at) {
  RINGSIDE_ASSIGN(const KernelObject file, read.object(file_at, types.file.bytes, "struct file"));
  GuestFile found;
  found.inode = file.pointer(types.file.inode);
  found.mapping = file.pointer(types.file.mapping);
  RINGSIDE_ASSIGN(found.identity, read_inode_identity(types, read, found.inode));
  PathWalk walk(types, read);
  RINGSIDE_ASSIGN(found.path,
                  walk.run(file.pointer(types.file.dentry), file.pointer(types.file.vfsmount)));
  found.deleted = walk.deleted();
  return found;
}

}  // namespace ringside::guestos
