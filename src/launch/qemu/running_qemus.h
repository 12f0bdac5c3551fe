#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

// Processes of this machine by /proc: what is gone or may not be read is empty.
namespace ringside::launch {

// The numbers of all.
[[nodiscard]] std::vector<pid_t> all_processes();
[[nodiscard]] std::filesystem::path program_of(pid_t process);
// The folder in which it runs.
[[nodiscard]] std::filesystem::path folder_of(pid_t process);
// Word by word.
[[nodiscard]] std::vector<std::string> command_line_of(pid_t process);
// The same without the program's name.
[[nodiscard]] std::vector<std::string> arguments_of(pid_t process);

// A QEMU of this user that runs already.
struct RunningQemu {
  pid_t process = 0;
  // The options of ringside's that attach to it, such as "--gdb localhost:1234"; empty: none do.
  std::string attach;
};
[[nodiscard]] std::vector<RunningQemu> running_qemus();

// A sentence for each of the first few, behind a full stop: the command that attaches to it. Empty:
// none runs.
[[nodiscard]] std::string running_qemus_in_words(const std::string& verb);

}  // namespace ringside::launch
