#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

// Processes of this machine by /proc: what is gone or may not be read is empty.
namespace ringside::launch {

// The numbers of all.
[[nodiscard]] std::vector<pid_t> all_processes();
// By its effective user, which the owner of its folder in /proc is.
[[nodiscard]] bool is_this_users(pid_t process);
[[nodiscard]] std::filesystem::path program_of(pid_t process);
// The folder in which it runs.
[[nodiscard]] std::filesystem::path folder_of(pid_t process);
// Word by word.
[[nodiscard]] std::vector<std::string> command_line_of(pid_t process);
// The same without the program's name.
[[nodiscard]] std::vector<std::string> arguments_of(pid_t process);

}  // namespace ringside::launch
