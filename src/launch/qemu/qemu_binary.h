#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ringside::launch {

// The ELF program that runs when `program` (looked up in PATH) is started: itself, or, where it is
// a script, the only QEMU that the script names by an absolute path. Nothing where that is not
// known: a script must not be run only to ask it something, because it may start a guest.
[[nodiscard]] std::optional<std::filesystem::path> find_qemu_binary(const std::string& program);

// Whether there is a file of that name, which is looked up in PATH where it has no folder.
[[nodiscard]] bool is_there(const std::string& program);

}  // namespace ringside::launch
