#include "engines/qmp/monitor.h"

#include <poll.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

namespace ringside::engines::qmp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxLine = std::size_t{1} << 20;
constexpr int kMaxDepth = 32;  // of nested values; QEMU's answers have a handful
constexpr std::size_t kBlock = 64 * 1024;
constexpr std::size_t kExcerpt = 120;

bool is_peer_gone(int error) { return error == EPIPE || error == ECONNRESET; }

std::string text_of(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '.';
  return text;
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// {"QMP": {"version": {"qemu": {"major": 7, "minor": 2, "micro": 22}, …}, …}}
std::string version_in(const json& greeting) {
  const auto member = [](const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() ? *found : json();
  };
  const json qemu = member(member(greeting["QMP"], "version"), "qemu");
  const auto part = [&](const char* key) {
    const json number = member(qemu, key);
    return number.is_number_unsigned() ? number.get<std::uint64_t>() : 0;
  };
  return fmt::format("{}.{}.{}", part("major"), part("minor"), part("micro"));
}

}  // namespace

Result<Monitor> Monitor::connect(const SocketAddress& address, std::chrono::milliseconds timeout) {
  RINGSIDE_ASSIGN(auto socket, connect_to(address, timeout));
  return attach(std::move(socket), address.to_string(), timeout);
}

Result<Monitor> Monitor::attach(UniqueFd socket, std::string name,
                                std::chrono::milliseconds timeout) {
  Monitor monitor(std::move(socket), std::move(name), timeout);
  RINGSIDE_TRY(monitor.negotiate());
  return monitor;
}

Result<void> Monitor::negotiate() {
  auto greeting = read_message(std::chrono::steady_clock::now() + timeout_);
  if (!greeting && greeting.error().code == ErrorCode::kTimeout)
    return fail(ErrorCode::kTimeout,
                "{} accepts a connection and sends no greeting: a monitor serves one client at a "
                "time, and it has another; end that one, or give QEMU a second -qmp",
                name_);
  if (!greeting) return tl::unexpected<Error>(greeting.error());
  if (!greeting->is_object() || !greeting->contains("QMP") || !(*greeting)["QMP"].is_object())
    return fail(ErrorCode::kProtocol, "{} is no QMP socket: it begins with '{}'", name_,
                dump(*greeting).substr(0, kExcerpt));
  version_ = version_in(*greeting);
  RINGSIDE_TRY(execute("qmp_capabilities", {}));
  return {};
}

Result<json> Monitor::execute(std::string_view command, const json& arguments) {
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  const std::uint64_t id = ++last_id_;
  json request = {{"execute", command}, {"id", id}};
  if (!arguments.is_null()) request["arguments"] = arguments;
  RINGSIDE_TRY(send(dump(request) + "\n", deadline));
  while (true) {
    RINGSIDE_ASSIGN(json message, read_message(deadline));
    // Events have no id; the answer to a request that was given up on has an older one.
    if (!message.is_object() || message.value("id", json()) != json(id)) continue;
    if (const auto value = message.find("return"); value != message.end()) return *value;
    const json error = message.value("error", json::object());
    return fail(ErrorCode::kUnsupported, "QEMU refuses {}: {}", command, text_of(error, "desc"));
  }
}

Result<std::string> Monitor::human(const std::string& line) {
  RINGSIDE_ASSIGN(const json answer, execute("human-monitor-command", {{"command-line", line}}));
  if (!answer.is_string())
    return fail(ErrorCode::kProtocol, "{}: '{}' is answered by no text", name_, line);
  return answer.get<std::string>();
}

Result<std::string> Monitor::status() {
  RINGSIDE_ASSIGN(const json answer, execute("query-status", {}));
  const std::string status = text_of(answer, "status");
  if (status.empty())
    return fail(ErrorCode::kProtocol, "{}: query-status is answered without a status", name_);
  return status;
}

Result<std::vector<Monitor::CharacterDevice>> Monitor::character_devices() {
  RINGSIDE_ASSIGN(const json answer, execute("query-chardev", {}));
  std::vector<CharacterDevice> devices;
  if (!answer.is_array()) return devices;
  for (const json& device : answer) {
    devices.push_back({text_of(device, "label"), text_of(device, "filename")});
  }
  return devices;
}

pid_t Monitor::peer() const {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  const bool known = ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
  return known ? credentials.pid : 0;
}

Result<json> Monitor::read_message(Deadline deadline) {
  RINGSIDE_ASSIGN(const std::string line, read_line(deadline));
  // nlohmann's values are copied and printed recursively.
  bool too_deep = false;
  const auto is_shallow = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  json message = json::parse(line, is_shallow, false);
  if (message.is_discarded() || too_deep)
    return fail(ErrorCode::kProtocol, "{} is no QMP socket: it says '{}'", name_,
                printable(line.substr(0, kExcerpt)));
  return message;
}

void Monitor::discard_events() {
  std::string block(kBlock, '\0');
  ssize_t got = 0;
  while ((got = ::recv(socket_.get(), block.data(), block.size(), MSG_DONTWAIT)) > 0) {
    unread_.append(block, 0, static_cast<std::size_t>(got));
    unread_.erase(0, unread_.rfind('\n') + 1);
    if (unread_.size() > kMaxLine) return;
  }
}

Result<std::string> Monitor::read_line(Deadline deadline) {
  for (std::size_t searched = 0;;) {
    if (const auto end = unread_.find('\n', searched); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    searched = unread_.size();
    if (searched > kMaxLine)
      return fail(ErrorCode::kProtocol, "{} is no QMP socket: a line has over {} MB", name_,
                  kMaxLine >> 20);
    RINGSIDE_TRY(wait_for(POLLIN, deadline));
    unread_.resize(searched + kBlock);
    const ssize_t got = ::recv(socket_.get(), unread_.data() + searched, kBlock, MSG_DONTWAIT);
    const int error = got < 0 ? errno : 0;
    unread_.resize(searched + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || is_peer_gone(error))
      return fail(ErrorCode::kClosed, "{} closed the connection: QEMU has ended", name_);
    if (got < 0 && error != EINTR && error != EAGAIN) return fail_errno("receive from " + name_);
  }
}

Result<void> Monitor::send(std::string_view text, Deadline deadline) {
  while (!text.empty()) {
    const ssize_t sent =
        ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (is_peer_gone(errno)) {
      return fail(ErrorCode::kClosed, "{} closed the connection: QEMU has ended", name_);
    } else if (errno == EAGAIN) {
      RINGSIDE_TRY(wait_for(POLLOUT, deadline));
    } else if (errno != EINTR) {
      return fail_errno("send to " + name_);
    }
  }
  return {};
}

Result<void> Monitor::wait_for(short events, Deadline deadline) const {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return fail(ErrorCode::kTimeout, "{} has not answered for {} ms: is QEMU overloaded?", name_,
                  timeout_.count());
    pollfd poll_fd{socket_.get(), events, 0};
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(left.count()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail_errno("poll of " + name_);
  }
}

}  // namespace ringside::engines::qmp
