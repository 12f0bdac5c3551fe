#include "launch/qemu/qemu_binary.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "launch/path_search.h"

namespace ringside::launch {
namespace {

constexpr std::size_t kLongestScript = 65536;

std::optional<std::filesystem::path> look_up(const std::string& program) {
  std::error_code ignored;
  if (program.find('/') != std::string::npos) return std::filesystem::absolute(program, ignored);
  const char* const variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  const auto found = find_in_path(path, program, X_OK);
  if (!found) return std::nullopt;
  return std::filesystem::absolute(*found, ignored);
}

// The first bytes of a regular file; a FIFO or a device is not opened.
std::string beginning_of(const std::filesystem::path& path, std::size_t bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text(bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool is_program(const std::filesystem::path& path) {
  return beginning_of(path, 4) ==
             "\x7f"
             "ELF" &&
         ::access(path.c_str(), X_OK) == 0;
}

// The only one of the absolute paths in a script that is a program whose name has "qemu" or "kvm"
// in it.
std::optional<std::filesystem::path> named_in(const std::string& script) {
  constexpr std::string_view kBetween = " \t\n\"'`;()|&<>=";
  std::optional<std::filesystem::path> only;
  for (std::size_t begin = 0; begin < script.size();) {
    const std::size_t end = std::min(script.find_first_of(kBetween, begin), script.size());
    const std::filesystem::path word = script.substr(begin, end - begin);
    begin = end + 1;
    const std::string name = word.filename().string();
    const bool may_be = word.is_absolute() && (name.find("qemu") != std::string::npos ||
                                               name.find("kvm") != std::string::npos);
    if (!may_be || !is_program(word)) continue;
    if (only && *only != word) return std::nullopt;
    only = word;
  }
  return only;
}

}  // namespace

bool is_there(const std::string& program) {
  const auto path = look_up(program);
  std::error_code ignored;
  return path && std::filesystem::exists(*path, ignored);
}

std::optional<std::filesystem::path> find_qemu_binary(const std::string& program) {
  const auto path = look_up(program);
  if (!path) return std::nullopt;
  if (is_program(*path)) return path;
  const std::string script = beginning_of(*path, kLongestScript);
  return script.starts_with("#!") ? named_in(script) : std::nullopt;
}

}  // namespace ringside::launch
