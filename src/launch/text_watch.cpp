#include "launch/text_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace ringside::launch {

namespace {

constexpr std::size_t kRecent = 4096;
constexpr std::size_t kLongestLine = 200;
constexpr const char* kBlanks = " \t\r\n";

}  // namespace

std::string TextWatch::last_line() const {
  const std::size_t end = recent_.find_last_not_of(kBlanks);
  if (end == std::string::npos) return {};
  std::string line = recent_.substr(0, end + 1);
  if (const std::size_t begin = line.find_last_of("\r\n"); begin != std::string::npos)
    line.erase(0, begin + 1);
  if (line.size() > kLongestLine) line.erase(0, line.size() - kLongestLine);
  return line;
}

bool TextWatch::seen() {
  if (!seen_ && !fd_.valid()) fd_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer;
  while (!seen_ && fd_.valid()) {
    const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
    if (count <= 0) break;
    tail_.append(buffer.data(), static_cast<std::size_t>(count));
    recent_.append(buffer.data(), static_cast<std::size_t>(count));
    if (recent_.size() > kRecent) recent_.erase(0, recent_.size() - kRecent);
    seen_ = tail_.find(text_) != std::string::npos;
    if (tail_.size() > text_.size()) tail_.erase(0, tail_.size() - text_.size());
  }
  return seen_;
}

}  // namespace ringside::launch
