#include "engines/gdb/protocol/late_answer.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "engines/gdb/protocol/handshake.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/migration_watch.h"

namespace ringside::engines::gdb {
namespace {

// "info version" and "info status"; the '+' acknowledges what nobody has read.
constexpr std::string_view kQuestions =
    "+$qRcmd,696e666f2076657273696f6e#e8$qRcmd,696e666f20737461747573#14";
constexpr std::string_view kStatus = "VM status: ";
constexpr int kQuietMs = 2000;               // no more answers will come
constexpr std::size_t kMostBytes = 1 << 20;  // of a stub that does not end

// Parses a stub's packets: whether a stop reply was there, and the text that its monitor prints. No
// memory is allocated.
class Answers {
 public:
  void take(char c) {
    if (c == '$') {
      at_ = 0;
      in_packet_ = true;
    } else if (c == '#') {
      in_packet_ = false;
    } else if (in_packet_) {
      take_body(c);
    }
  }
  [[nodiscard]] bool saw_stop_reply() const { return saw_stop_reply_; }
  [[nodiscard]] std::string_view text() const { return {text_.data(), size_}; }
  // The line that begins with a digit; empty: it is not there yet.
  [[nodiscard]] std::string_view version() const {
    std::string_view rest = text();
    while (!rest.empty() && (rest.front() < '0' || rest.front() > '9')) {
      const auto end = rest.find('\n');
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    const auto end = rest.find('\n');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
  }
  [[nodiscard]] bool has_status() const {
    const auto at = text().find(kStatus);
    return at != std::string_view::npos && text().find('\n', at) != std::string_view::npos;
  }
  [[nodiscard]] bool are_complete() const { return has_status() && !version().empty(); }

 private:
  void take_body(char c) {
    if (at_++ == 0) {
      saw_stop_reply_ |= c == 'T' || c == 'S';
      is_text_ = c == 'O';
      high_.reset();
      return;
    }
    const auto digit = hex_digit(c);
    if (!digit) is_text_ = false;  // such as "OK"
    if (!is_text_) return;
    if (!high_) {
      high_ = *digit;
    } else {
      if (size_ < text_.size()) text_[size_++] = static_cast<char>(*high_ << 4 | *digit);
      high_.reset();
    }
  }

  bool in_packet_ = false;
  std::size_t at_ = 0;  // in the packet's body
  bool is_text_ = false;
  std::optional<unsigned> high_;  // half a byte of text
  bool saw_stop_reply_ = false;
  std::array<char, 1024> text_{};
  std::size_t size_ = 0;
};

// Sends the questions and reads until the state is known. False: the connection has ended.
bool ask(int socket, Answers& answers) {
  std::size_t sent = 0;
  std::size_t heard = 0;
  while (!answers.saw_stop_reply() && !answers.are_complete() && heard < kMostBytes) {
    const short events = sent < kQuestions.size() ? POLLIN | POLLOUT : POLLIN;
    pollfd poll_fd{socket, events, 0};
    const int ready = ::poll(&poll_fd, 1, heard > 0 ? kQuietMs : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return ready == 0;
    if (sent < kQuestions.size()) {
      const ssize_t put = ::send(socket, kQuestions.data() + sent, kQuestions.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put > 0) sent += static_cast<std::size_t>(put);
      if (put < 0 && errno != EAGAIN && errno != EINTR) return false;
    }
    std::array<char, 512> bytes{};
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    for (ssize_t i = 0; i < got; ++i) answers.take(bytes[static_cast<std::size_t>(i)]);
    heard += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return true;
}

}  // namespace

bool ran_before_connection(int socket) {
  Answers answers;
  if (!ask(socket, answers)) return false;
  if (answers.saw_stop_reply() || !answers.has_status()) return true;
  return run_state_in(answers.text()) == "paused" && version_at_least(answers.version(), 8, 1);
}

}  // namespace ringside::engines::gdb
