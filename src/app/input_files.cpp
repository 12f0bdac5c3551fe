#include "app/input_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "app/unpacked_input.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/zeros.h"
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

// Without the hole at the end of a file, which may be long. Some of its zeros stay: a record may
// end with them.
Bytes without_last_hole(const std::string& path, Bytes bytes) {
  constexpr off_t kZerosKept = 64 << 10;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  off_t end = 0;
  for (off_t data = 0; (data = ::lseek(file.get(), end, SEEK_DATA)) >= 0;) {
    end = ::lseek(file.get(), data, SEEK_HOLE);
    if (end < 0) return bytes;
  }
  if (errno != ENXIO) return bytes;  // not because there are no more data
  return bytes.first(std::min(bytes.size(), static_cast<std::size_t>(end + kZerosKept)));
}

// A text holds no zeros: it ends where nothing else follows.
Bytes without_padding(Bytes bytes) {
  const auto zero = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const auto size = static_cast<std::size_t>(zero - bytes.begin());
  return is_zero(bytes.subspan(size)) ? bytes.first(size) : bytes;
}

// A folder is none of the files that are read, and perf makes some.
Result<void> check_folder(const InputFile& input) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(input.path, ignored)) return {};
  const fs::path data = fs::path(input.name) / "data";
  if (!fs::is_regular_file(fs::path(input.path) / "data", ignored))
    return fail(ErrorCode::kFormat, "{} is a folder, not a file", input.name);
  if (fs::is_regular_file(fs::path(input.path) / "data.0", ignored))
    return fail(ErrorCode::kFormat,
                "{} is a folder of 'perf record --threads', which ringside does not read: give the "
                "text of 'perf script -i {}'",
                input.name, input.name);
  return fail(ErrorCode::kFormat,
              "{} is a folder, as 'perf record --kcore' makes it: give the file in it, {}",
              input.name, data.string());
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
    RINGSIDE_TRY(check_folder(input));
    RINGSIDE_ASSIGN(const auto file, MappedFile::open(input.path));
    Bytes bytes = file->bytes();
    if (input.is_padded) bytes = without_padding(without_last_hole(input.path, bytes));
    opened.push_back({input.name, bytes, [file] { file->release_pages(); }});
    RINGSIDE_ASSIGN(const auto content, unpacked(opened.back()));
    if (content == nullptr) continue;
    opened.back().bytes = content->bytes();
    opened.back().release = [content] { content->release_pages(); };
    opened.back().was_compressed = true;
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
