#include "launch/text_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace ringside::launch {

bool TextWatch::seen() {
  if (!seen_ && !fd_.valid()) fd_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer;
  while (!seen_ && fd_.valid()) {
    const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
    if (count <= 0) break;
    tail_.append(buffer.data(), static_cast<std::size_t>(count));
    seen_ = tail_.find(text_) != std::string::npos;
    if (tail_.size() > text_.size()) tail_.erase(0, tail_.size() - text_.size());
  }
  return seen_;
}

}  // namespace ringside::launch
