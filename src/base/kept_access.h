#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ringside {

// Whether what `owner` has at `path` may have been put there to get what is written: it is in a
// folder that all may write, such as /tmp, and neither this user's nor the folder's owner's. The
// kernel has this rule for links and files (proc(5), protected_symlinks and protected_regular).
[[nodiscard]] bool may_be_planted(const std::filesystem::path& path, uid_t owner);

// Gives a new file or folder, which nobody else can read yet, the owner, the group, the permissions
// and the access control list of the one at `older` that it replaces. Where there is none of its
// kind, the umask decides, from `otherwise`. A permission of a group that cannot be kept is left
// only where everybody has it, so nobody gets more access than before. Nothing is kept of one that
// may be planted. The result are sentences on what is not kept; `name` stands for the file there.
[[nodiscard]] std::vector<std::string> keep_access(int made, const std::filesystem::path& older,
                                                   mode_t otherwise, const std::string& name);

// Gives a copy, which nobody else can read yet, the access that the original at `from` has.
void copy_access(int from, int copy);

}  // namespace ringside
