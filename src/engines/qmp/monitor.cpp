#include "engines/qmp/monitor.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "engines/peer_process.h"

namespace ringside::engines::qmp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxLine = std::size_t{1} << 20;
constexpr int kMaxDepth = 32;  // of nested values; QEMU's answers have a handful
constexpr std::size_t kBlock = 64 * 1024;
constexpr std::size_t kExcerpt = 120;
constexpr int kMostEvents = 10'000;                         // at a time
constexpr std::chrono::milliseconds kDetachPatience{1000};  // for the guest's sake, patience or not
constexpr std::chrono::milliseconds kStep{100};  // from one look at the patience to the next
constexpr std::chrono::milliseconds kLong{1000};
constexpr std::chrono::milliseconds kEnding{2000};  // for an answer of a QEMU that ends

bool is_peer_gone(int error) { return error == EPIPE || error == ECONNRESET; }

std::string text_of(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// When an event came, by QEMU's clock of real time; 0 where it does not say.
std::uint64_t time_of(const json& message) {
  const auto found = message.is_object() ? message.find("timestamp") : message.end();
  if (found == message.end() || !found->is_object()) return 0;
  const auto number = [&](const char* key) -> std::uint64_t {
    const auto part = found->find(key);
    return part != found->end() && part->is_number_unsigned() ? part->get<std::uint64_t>() : 0;
  };
  return number("seconds") * 1'000'000'000u + number("microseconds") * 1'000u;
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

// {"QMP": {…, "capabilities": ["oob"]}}
bool offers_out_of_band(const json& greeting) {
  const auto offered = greeting["QMP"].find("capabilities");
  if (offered == greeting["QMP"].end() || !offered->is_array()) return false;
  return std::find(offered->begin(), offered->end(), json("oob")) != offered->end();
}

}  // namespace

Result<Monitor> Monitor::connect(const SocketAddress& address, Patience patience) {
  RINGSIDE_ASSIGN(auto socket, connect_to(address, patience.timeout));
  RINGSIDE_ASSIGN(auto monitor,
                  attach(std::move(socket), address.to_string(), std::move(patience)));
  monitor.address_ = address;
  return monitor;
}

Result<Monitor> Monitor::attach(UniqueFd socket, std::string name, Patience patience) {
  Monitor monitor(std::move(socket), std::move(name), std::move(patience));
  RINGSIDE_TRY(monitor.negotiate());
  return monitor;
}

// QEMU sends what it was still answering when the client before was lost to the next one, before
// the greeting.
Result<json> Monitor::read_greeting() {
  const auto deadline = this->deadline();
  const auto is_for_another = [](const json& message) {
    return message.contains("return") || message.contains("error") || message.contains("event");
  };
  while (true) {
    auto message = read_message(deadline);
    if (!message || !message->is_object() || !is_for_another(*message)) return message;
    RINGSIDE_TRY(go_on(deadline));
  }
}

Result<void> Monitor::negotiate() {
  auto greeting = read_greeting();
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
  RINGSIDE_TRY(execute("qmp_capabilities",
                       offers_out_of_band(*greeting) ? json{{"enable", {"oob"}}} : json()));
  return {};
}

void Requests::add(std::string_view command) {
  bodies_.push_back(fmt::format("{{\"execute\":\"{}\"", command));
}

std::string text_of(const json& answer) {
  return answer.is_string() ? answer.get<std::string>() : std::string();
}

void Requests::add_human(std::string_view line, std::optional<VcpuId> vcpu) {
  bodies_.push_back(
      fmt::format("{{\"execute\":\"human-monitor-command\",\"arguments\":{{\"command-line\":{}{}}}",
                  dump(json(line)), vcpu ? fmt::format(",\"cpu-index\":{}", vcpu->value) : ""));
}

Result<json> Monitor::execute(std::string_view command, const json& arguments) {
  const auto deadline = this->deadline();
  const std::uint64_t id = ++last_id_;
  json request = {{"execute", command}, {"id", id}};
  if (!arguments.is_null()) request["arguments"] = arguments;
  RINGSIDE_TRY(send(dump(request) + "\n", deadline));
  auto answer = read_answer(id, deadline);
  if (!answer && answer.error().code == ErrorCode::kUnsupported)
    return fail(ErrorCode::kUnsupported, "QEMU refuses {}: {}", command, answer.error().message);
  return answer;
}

Result<json> Monitor::read_answer(std::uint64_t id, Deadline deadline) {
  while (true) {
    RINGSIDE_ASSIGN(json message, read_message(deadline));
    // Events have no id; the answer to a request that was given up on has an older one.
    if (!message.is_object() || message.value("id", json()) != json(id)) {
      RINGSIDE_TRY(go_on(deadline));
      continue;
    }
    if (const auto value = message.find("return"); value != message.end()) return std::move(*value);
    return fail(ErrorCode::kUnsupported, "{}",
                text_of(message.value("error", json::object()), "desc"));
  }
}

Result<std::vector<json>> Monitor::exchange(const Requests& requests, Moment* moment) {
  const auto deadline = this->deadline();
  std::uint64_t id = last_id_;
  std::string text;
  for (const std::string& body : requests.bodies_)
    text += fmt::format("{},\"id\":{}}}\n", body, ++last_id_);
  RINGSIDE_TRY(send(text, deadline));
  std::vector<json> answers;
  std::optional<Error> refused;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::uint64_t resumes = resumes_;
    auto answer = read_answer(++id, deadline);
    if (moment != nullptr && i == moment->of) {
      moment->answered_ns = monotonic_ns();
      moment->resumed_before = resumes_ != resumes;
    }
    if (answer) {
      answers.push_back(std::move(*answer));
    } else if (answer.error().code == ErrorCode::kUnsupported) {
      refused =
          Error{ErrorCode::kUnsupported,
                fmt::format("QEMU refuses {}}}: {}", requests.bodies_[i], answer.error().message)};
    } else {
      return tl::unexpected<Error>(answer.error());
    }
  }
  if (refused) return tl::unexpected<Error>(*refused);
  return answers;
}

// 0xff is in no JSON text: QEMU's parser drops what it has of a request (docs/interop/qmp-spec). A
// request that is not carried out yet when its client goes is dropped, too
// (monitor_qmp_cleanup_queue_and_resume() in QEMU's monitor/qmp.c); so the answer is waited for.
bool Monitor::let_run() {
  const Patience detach_text{kDetachPatience};
  if (is_closed_ && address_) {
    auto anew = connect(*address_, detach_text);
    return anew && anew->continue_guest();
  }
  const Patience before = std::exchange(patience_, detach_text);
  const bool is_done = send("\xff\n", deadline()) && continue_guest();
  patience_ = before;
  return is_done;
}

// A refusal is QEMU's answer, too; and there is no guest to continue in a QEMU that ends.
bool Monitor::continue_guest() {
  const auto answer = execute("cont", {});
  return answer || answer.error().code == ErrorCode::kUnsupported || is_ending_;
}

tl::unexpected<Error> Monitor::fail_closed() {
  is_closed_ = true;
  return fail(ErrorCode::kClosed, "{} closed the connection: has QEMU ended?", name_);
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
  guest_runs_ = status == "running";
  return status;
}

Result<Migration> Monitor::migration() {
  Requests requests;
  requests.add("query-status");
  requests.add("query-migrate");
  RINGSIDE_ASSIGN(const auto answers, exchange(requests));
  const std::string status = text_of(answers[0], "status");
  if (status.empty())
    return fail(ErrorCode::kProtocol, "{}: query-status is answered without a status", name_);
  guest_runs_ = status == "running";
  return migration_by(status, text_of(answers[1], "status"));
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

pid_t Monitor::peer() const { return process_behind(socket_.get()); }

Result<json> Monitor::read_message(Deadline deadline) {
  RINGSIDE_ASSIGN(const std::string line, read_line(deadline));
  return parse_message(line);
}

Result<json> Monitor::parse_message(const std::string& line) {
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
  note_event(text_of(message, "event"), time_of(message));
  return message;
}

void Monitor::note_event(std::string_view event, std::uint64_t time_ns) {
  if (event == "SHUTDOWN") is_ending_ = true;
  if (event == "STOP") {
    guest_runs_ = false;
    stop_began_ns_ = time_ns;
  } else if (event == "RESUME") {
    guest_runs_ = true;
    is_ending_ = false;  // -no-shutdown
    ++resumes_;
    const std::uint64_t began_ns = std::exchange(stop_began_ns_, 0);
    last_stop_ns_ = began_ns != 0 && time_ns > began_ns ? time_ns - began_ns : 0;
    stopped_ns_ += last_stop_ns_;
  }
}

void Monitor::take_events() {
  const auto now = std::chrono::steady_clock::now();
  for (int i = 0; i < kMostEvents && read_message(now); ++i) {
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
    unread_.resize(searched + kBlock);
    const ssize_t got = ::recv(socket_.get(), unread_.data() + searched, kBlock, MSG_DONTWAIT);
    const int error = got < 0 ? errno : 0;
    unread_.resize(searched + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || is_peer_gone(error)) return fail_closed();
    if (got < 0 && error != EINTR && error != EAGAIN) return fail_errno("receive from " + name_);
    if (got > 0) acknowledge_at_once(socket_.get());
    if (error == EAGAIN) RINGSIDE_TRY(wait_for(POLLIN, deadline));
  }
}

Result<void> Monitor::send(std::string_view text, Deadline deadline) {
  while (!text.empty()) {
    const ssize_t sent =
        ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (is_peer_gone(errno)) {
      return fail_closed();
    } else if (errno == EAGAIN) {
      RINGSIDE_TRY(wait_for(POLLOUT, deadline));
    } else if (errno != EINTR) {
      return fail_errno("send to " + name_);
    }
  }
  return {};
}

// An end that comes while QEMU has been silent for long already is reported as its silence. A QEMU
// that ends may leave a request without an answer until its client has gone.
Result<void> Monitor::go_on(Deadline deadline) const {
  const auto left = deadline - std::chrono::steady_clock::now();
  const auto waited = std::chrono::floor<std::chrono::milliseconds>(patience_.timeout - left);
  const bool is_over = waited >= kStep && patience_.over();
  if (is_over && waited < kLong)
    return fail(ErrorCode::kDisturbed, "interrupted while {} was waited for", name_);
  if (is_ending_ && waited >= kEnding)
    return fail(ErrorCode::kClosed, "{} does not answer any more: QEMU is ending", name_);
  if (!is_over && left.count() > 0) return {};
  return fail(ErrorCode::kTimeout, "{} has not answered for {} ms: is QEMU overloaded?", name_,
              is_over ? waited.count() : patience_.timeout.count());
}

Result<void> Monitor::wait_for(short events, Deadline deadline) const {
  while (true) {
    RINGSIDE_TRY(go_on(deadline));
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd poll_fd{socket_.get(), events, 0};
    const auto step =
        std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(0), kStep);
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(step.count()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail_errno("poll of " + name_);
  }
}

}  // namespace ringside::engines::qmp
