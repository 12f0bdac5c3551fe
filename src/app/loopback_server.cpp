#include "app/loopback_server.h"

#include <httplib.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "base/text.h"

namespace ringside::app {
namespace {

constexpr const char* kAddress = "127.0.0.1";

Result<std::string> make_token() {
  std::array<std::byte, 24> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail_errno("getrandom");
  return hex_text(bytes);
}

}  // namespace

struct LoopbackServer::State {
  httplib::Server server;
  std::string host;    // "127.0.0.1:PORT"
  std::string folder;  // "/TOKEN/"
  std::string url;
  std::string origin;  // of the page that may read
  std::map<std::string, ServedFile> files;

  void answer(const httplib::Request& request, httplib::Response& response) const {
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cache-Control", "no-store");
    const bool is_here = request.get_header_value("Host") == host;
    if (is_here && request.path == "/favicon.ico") {  // browsers ask each server for it
      response.status = 204;
      return;
    }
    if (!is_here || !request.path.starts_with(folder)) {
      response.status = is_here ? 404 : 403;
      return;
    }
    response.set_header("Access-Control-Allow-Origin", origin);
    response.set_header("Vary", "Origin");
    if (request.method == "OPTIONS")
      allow(response);
    else if (request.method == "GET" || request.method == "HEAD")
      send(request.path.substr(folder.size()), response);
    else
      response.status = 405;
  }

  // To a browser that asks before the page of another origin may read.
  static void allow(httplib::Response& response) {
    response.status = 204;
    response.set_header("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
    response.set_header("Access-Control-Allow-Headers", "*");
    response.set_header("Access-Control-Allow-Private-Network", "true");
    response.set_header("Access-Control-Max-Age", "600");
  }

  void send(const std::string& name, httplib::Response& response) const {
    const auto file = files.find(name);
    if (file == files.end()) {
      response.status = 404;
      return;
    }
    const auto mapped = MappedFile::open(file->second.path);
    if (!mapped) {
      response.status = 500;
      return;
    }
    if (!file->second.encoding.empty())
      response.set_header("Content-Encoding", file->second.encoding);
    response.status = 200;
    response.set_content_provider(
        (*mapped)->bytes().size(), file->second.type,
        [held = *mapped](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
          return sink.write(reinterpret_cast<const char*>(held->bytes().data()) + offset, length);
        });
  }
};

LoopbackServer::LoopbackServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
LoopbackServer::LoopbackServer(LoopbackServer&&) noexcept = default;
LoopbackServer::~LoopbackServer() = default;

Result<LoopbackServer> LoopbackServer::listen(std::uint16_t port, std::string origin) {
  auto state = std::make_unique<State>();
  RINGSIDE_ASSIGN(const std::string token, make_token());
  // The library's own options let several processes share a port.
  state->server.set_socket_options([](int socket) {
    const int yes = 1;
    (void)::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  // Each connection is for one request: none that waits for another delays the end.
  state->server.set_keep_alive_max_count(1);
  state->server.set_read_timeout(1);
  int bound = port;
  if (port == 0)
    bound = state->server.bind_to_any_port(kAddress);
  else if (!state->server.bind_to_port(kAddress, port))
    bound = -1;
  if (bound <= 0)
    return fail(ErrorCode::kIo, "cannot listen on {}:{}: {}; leave --port out to get a free one",
                kAddress, port, std::strerror(errno));
  state->host = fmt::format("{}:{}", kAddress, bound);
  state->folder = "/" + token + "/";
  state->url = "http://" + state->host + state->folder;
  state->origin = std::move(origin);
  return LoopbackServer(std::move(state));
}

const std::string& LoopbackServer::url() const { return state_->url; }

Result<void> LoopbackServer::serve(std::map<std::string, ServedFile> files,
                                   const std::function<bool()>& is_over) {
  State& state = *state_;
  state.files = std::move(files);
  state.server.set_pre_routing_handler(
      [&state](const httplib::Request& request, httplib::Response& response) {
        state.answer(request, response);
        return httplib::Server::HandlerResponse::Handled;
      });
  std::atomic<bool> has_failed = false;
  std::thread listener([&] { has_failed = !state.server.listen_after_bind(); });
  constexpr std::chrono::milliseconds kLook(50);
  // Before it runs, stop() does nothing.
  while (!has_failed && (!is_over() || !state.server.is_running()))
    std::this_thread::sleep_for(kLook);
  const bool failed = has_failed;
  state.server.stop();
  listener.join();
  if (failed) return fail(ErrorCode::kIo, "cannot take connections on {}", state.host);
  return {};
}

}  // namespace ringside::app
