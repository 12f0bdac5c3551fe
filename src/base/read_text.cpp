#include "base/read_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.h"

namespace ringside {

// std::istreambuf_iterator throws where read(2) fails.
std::string read_text(const std::filesystem::path& path, std::size_t most) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 1 << 14> block;
  while (file.valid() && text.size() < most) {
    const ssize_t got =
        ::read(file.get(), block.data(), std::min(block.size(), most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace ringside
