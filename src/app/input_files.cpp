#include "app/input_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/fd.h"
#include "base/file.h"
#include "launch/private_folder.h"

namespace ringside::app {
namespace {

constexpr const char* kStandardInput = "-";

struct Spooled {
  launch::PrivateFolder folder;
  std::string path;
};

Result<Spooled> spool_standard_input() {
  RINGSIDE_ASSIGN(auto folder, launch::PrivateFolder::create_for_large_files());
  std::string path = folder.path() / "standard-input";
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return fail_errno(path);
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("standard input");
    if (got == 0) return Spooled{std::move(folder), std::move(path)};
    RINGSIDE_TRY(write_all(file.get(), as_bytes({buffer.data(), static_cast<std::size_t>(got)}),
                           "a copy of standard input in " + path));
  }
}

// A text holds no zeros: it ends where nothing else follows.
Bytes without_padding(Bytes bytes) {
  const auto zero = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const bool is_text =
      std::all_of(zero, bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  return is_text ? bytes.first(static_cast<std::size_t>(zero - bytes.begin())) : bytes;
}

}  // namespace

Result<std::string> path_of_input(const std::string& input) {
  if (input != kStandardInput) return input;
  static const Result<Spooled> spooled = spool_standard_input();
  if (!spooled) return tl::unexpected<Error>(spooled.error());
  return spooled->path;
}

Result<std::vector<importers::Input>> open_inputs(const std::vector<InputFile>& files) {
  std::vector<importers::Input> opened;
  for (const InputFile& input : files) {
    RINGSIDE_ASSIGN(const auto file, MappedFile::open(input.path));
    opened.push_back({input.name, input.is_padded ? without_padding(file->bytes()) : file->bytes(),
                      [file] { file->release_pages(); }});
  }
  return opened;
}

Result<std::vector<importers::Input>> open_inputs(const std::vector<std::string>& inputs) {
  std::vector<InputFile> files;
  for (const std::string& input : inputs) {
    RINGSIDE_ASSIGN(const std::string path, path_of_input(input));
    files.push_back({input == kStandardInput ? "standard input" : input, path});
  }
  return open_inputs(files);
}

}  // namespace ringside::app
