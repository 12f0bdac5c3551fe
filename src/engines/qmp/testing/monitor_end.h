#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engines/qmp/monitor.h"

namespace ringside::engines::qmp {

// QEMU's end of a monitor's connection, for tests: it says what it is asked to.
class MonitorEnd {
 public:
  // Connects to a monitor that has said that much already.
  [[nodiscard]] Result<Monitor> connect(std::string_view says, Patience patience,
                                        std::string name = "qmp") {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    socket_.reset(ends[1]);
    say(says);
    return Monitor::attach(UniqueFd(ends[0]), std::move(name), std::move(patience));
  }
  void say(std::string_view text) const {
    EXPECT_EQ(::send(socket_.get(), text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
  }
  // Requests that have come since the last call.
  [[nodiscard]] std::string heard() const {
    std::string text(4096, '\0');
    const ssize_t got = ::recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
};

}  // namespace ringside::engines::qmp
