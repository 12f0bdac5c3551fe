#include "launch/qemu/processes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/read_text.h"

namespace ringside::launch {
namespace {

namespace fs = std::filesystem;

fs::path proc_of(pid_t process) { return fs::path("/proc") / std::to_string(process); }

}  // namespace

std::vector<pid_t> all_processes() {
  std::vector<pid_t> all;
  std::error_code error;
  for (auto entry = fs::directory_iterator("/proc", error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t process = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), process);
    if (parsed.ec == std::errc{}) all.push_back(process);
  }
  return all;
}

bool is_this_users(pid_t process) {
  struct stat status {};
  return ::stat(proc_of(process).c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

fs::path program_of(pid_t process) {
  std::error_code ignored;
  return fs::read_symlink(proc_of(process) / "exe", ignored);
}

fs::path folder_of(pid_t process) {
  std::error_code ignored;
  return fs::read_symlink(proc_of(process) / "cwd", ignored);
}

std::vector<std::string> command_line_of(pid_t process) {
  constexpr std::size_t kMostBytes = 1 << 20;
  std::vector<std::string> words;
  const std::string line = read_text(proc_of(process) / "cmdline", kMostBytes);
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find('\0', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<std::string> arguments_of(pid_t process) {
  auto words = command_line_of(process);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

}  // namespace ringside::launch
