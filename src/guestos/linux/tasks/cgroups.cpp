#include "guestos/linux/tasks/cgroups.h"

#include <algorithm>

#include "guestos/linux/types/field_finder.h"

namespace ringside::guestos {
namespace {

constexpr unsigned kMaxDepth = 256;
constexpr std::size_t kMaxName = 255;  // NAME_MAX
constexpr std::size_t kMaxPath = 4096;

}  // namespace

std::optional<Cgroups> Cgroups::of(const TypeSource& types) {
  FieldFinder find(types);
  Cgroups cgroups;
  cgroups.sets_ = find.need("task_struct", {"cgroups"});
  cgroups.group_ = find.need("css_set", {"dfl_cgrp"});
  cgroups.node_ = find.need("cgroup", {"kn"});
  cgroups.parent_ = find.need("kernfs_node", {"__parent", "parent"});  // renamed in 6.15
  cgroups.name_ = find.need("kernfs_node", {"name"});
  return find.result("") ? std::optional(cgroups) : std::nullopt;
}

Result<std::string> Cgroups::path_of(GuestVirt set, const KernelReader& read) const {
  RINGSIDE_ASSIGN(const GuestVirt group, read.pointer(set + group_.offset));
  RINGSIDE_ASSIGN(GuestVirt node, read.pointer(group + node_.offset));
  const std::uint32_t bytes = std::max(parent_.end(), name_.end());
  std::string path;
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    RINGSIDE_ASSIGN(const KernelObject object, read.object(node, bytes, "struct kernfs_node"));
    const GuestVirt parent = object.pointer(parent_);
    if (parent.value == 0) return path.empty() ? "/" : std::move(path);
    RINGSIDE_ASSIGN(const std::string name, read.text(object.pointer(name_), kMaxName));
    if (name.empty() || path.size() + name.size() >= kMaxPath) break;
    path.insert(0, "/" + name);
    node = parent;
  }
  return fail(ErrorCode::kDisturbed, "the path of the control group at {} does not come to a root",
              group);
}

}  // namespace ringside::guestos
