#include "app/loopback_server.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <list>
#include <optional>
#include <utility>

// They come after <utility>, which Boost 1.74 forgets.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "base/text.h"

namespace ringside::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Failure = beast::error_code;
using Body = http::span_body<const char>;

constexpr const char* kAddress = "127.0.0.1";
constexpr std::chrono::milliseconds kLook(50);  // at is_over
constexpr std::size_t kLargestHead = 64 << 10;  // a browser sends the cookies of all ports
constexpr std::size_t kMegabyte = 1 << 20;

Result<std::string> make_token() {
  std::array<std::byte, 24> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail_errno("getrandom");
  return hex_text(bytes);
}

// The files, and the answer to each request.
struct Site {
  std::string host;    // "127.0.0.1:PORT"
  std::string folder;  // "/TOKEN/"
  std::string origin;  // of the page that may read
  std::map<std::string, ServedFile> files;

  // The file stays as long as the site.
  [[nodiscard]] http::response<Body> answer(const http::request<http::empty_body>& request) const {
    http::response<Body> response = make(http::status::not_found);
    const bool is_here = request[http::field::host] == host;
    const std::string target(request.target().substr(0, request.target().find('?')));
    if (!is_here) {
      response.result(http::status::forbidden);
    } else if (target == "/favicon.ico") {  // browsers ask each server for it
      make_empty(response);
    } else if (is_ours(target)) {
      response.set(http::field::access_control_allow_origin, origin);
      response.set(http::field::vary, "Origin");
      answer_to_owner(request.method(), target.substr(folder.size()), response);
    }
    return response;
  }

  [[nodiscard]] bool is_ours(const std::string& target) const { return target.starts_with(folder); }

  [[nodiscard]] static http::response<Body> make(http::status status) {
    http::response<Body> response(status, 11);
    response.keep_alive(false);
    response.content_length(0);
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    response.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    response.set(http::field::cache_control, "no-store");
    return response;
  }

 private:
  void answer_to_owner(http::verb method, const std::string& name,
                       http::response<Body>& response) const {
    if (method == http::verb::options)
      allow(response);
    else if (method == http::verb::get || method == http::verb::head)
      send(name, method == http::verb::get, response);
    else
      response.result(http::status::method_not_allowed);
  }

  static void make_empty(http::response<Body>& response) {
    response.result(http::status::no_content);
    response.content_length(boost::none);
  }

  // To a browser that asks before the page of another origin may read.
  static void allow(http::response<Body>& response) {
    make_empty(response);
    response.set(http::field::access_control_allow_methods, "GET, HEAD, OPTIONS");
    response.set(http::field::access_control_allow_headers, "*");
    response.set("Access-Control-Allow-Private-Network", "true");
    response.set(http::field::access_control_max_age, "600");
  }

  void send(const std::string& name, bool has_body, http::response<Body>& response) const {
    const auto found = files.find(name);
    if (found == files.end()) return;
    const ServedFile& file = found->second;
    const Bytes bytes = file.content->bytes();
    response.result(http::status::ok);
    response.set(http::field::content_type, file.type);
    if (!file.encoding.empty()) response.set(http::field::content_encoding, file.encoding);
    if (!file.policy.empty()) response.set("Content-Security-Policy", file.policy);
    response.content_length(bytes.size());
    if (has_body)
      response.body() = Body::value_type(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
};

// One request and its answer.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `finished` is called once, with nothing of this in use any more.
  Connection(tcp::socket socket, const Site& site, const ServerLimits& limits,
             std::function<void(const Connection*)> finished)
      : stream_(std::move(socket)), site_(site), limits_(limits), finished_(std::move(finished)) {
    parser_.header_limit(kLargestHead);
  }

  void read() {
    stream_.expires_after(limits_.request);
    http::async_read_header(
        stream_, buffer_, parser_,
        [self = shared_from_this()](Failure failure, std::size_t) { self->answer(failure); });
  }
  void close() { stream_.close(); }
  // Whether its client knows the path.
  [[nodiscard]] bool is_owners() const { return is_owners_; }

 private:
  void answer(Failure failure) {
    const bool is_malformed =
        failure.category() == http::make_error_code(http::error::end_of_stream).category();
    if (failure && (!is_malformed || failure == http::error::end_of_stream)) return finish();
    if (failure) {
      response_ = Site::make(http::status::bad_request);
    } else {
      response_ = site_.answer(parser_.get());
      is_owners_ = site_.is_ours(std::string(parser_.get().target()));
    }
    stream_.expires_after(limits_.answer * (1 + response_->body().size() / kMegabyte));
    serializer_.emplace(*response_);
    http::async_write(stream_, *serializer_, [self = shared_from_this()](Failure, std::size_t) {
      Failure ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      self->finish();
    });
  }
  void finish() { finished_(this); }

  beast::tcp_stream stream_;
  const Site& site_;
  const ServerLimits& limits_;
  std::function<void(const Connection*)> finished_;
  beast::flat_buffer buffer_{kLargestHead};
  http::request_parser<http::empty_body> parser_;
  std::optional<http::response<Body>> response_;
  std::optional<http::response_serializer<Body>> serializer_;
  bool is_owners_ = false;
};

}  // namespace

struct LoopbackServer::State {
  explicit State(ServerLimits wanted) : limits(wanted) {}

  void accept_next() {
    acceptor.async_accept([this](Failure failure, tcp::socket socket) {
      if (failure && failure != asio::error::connection_aborted) {
        problem = failure;
        context.stop();
        return;
      }
      if (!failure) take(std::move(socket));
      accept_next();
    });
  }

  void take(tcp::socket socket) {
    const auto finished = [this](const Connection* one) {
      connections.remove_if([one](const auto& other) { return other.get() == one; });
    };
    connections.push_back(std::make_shared<Connection>(std::move(socket), site, limits, finished));
    connections.back()->read();
    if (connections.size() > limits.connections) drop_one();
  }

  // The oldest of a client that does not know the path; where all do, the oldest.
  void drop_one() {
    const auto stranger = std::find_if(connections.begin(), connections.end(),
                                       [](const auto& one) { return !one->is_owners(); });
    const auto dropped = stranger == connections.end() ? connections.begin() : stranger;
    (*dropped)->close();
    connections.erase(dropped);
  }

  void look(const std::function<bool()>& is_over) {
    timer.expires_after(kLook);
    timer.async_wait([this, &is_over](Failure) {
      if (is_over())
        context.stop();
      else
        look(is_over);
    });
  }

  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer timer{context};
  Site site;
  std::string url;
  ServerLimits limits;
  std::list<std::shared_ptr<Connection>> connections;  // the oldest first
  Failure problem;
};

LoopbackServer::LoopbackServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
LoopbackServer::LoopbackServer(LoopbackServer&&) noexcept = default;
LoopbackServer::~LoopbackServer() = default;

Result<LoopbackServer> LoopbackServer::listen(std::uint16_t port, std::string origin,
                                              ServerLimits limits) {
  auto state = std::make_unique<State>(limits);
  RINGSIDE_ASSIGN(const std::string token, make_token());
  const tcp::endpoint wanted(asio::ip::make_address_v4(kAddress), port);
  tcp::acceptor& acceptor = state->acceptor;
  Failure failure;
  acceptor.open(wanted.protocol(), failure);
  if (!failure) acceptor.set_option(tcp::acceptor::reuse_address(true), failure);
  if (!failure) acceptor.bind(wanted, failure);
  if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure)
    return fail(ErrorCode::kIo, "cannot listen on {}:{}: {}; leave --port out to get a free one",
                kAddress, port, failure.message());
  state->site.host = fmt::format("{}:{}", kAddress, acceptor.local_endpoint(failure).port());
  state->site.folder = "/" + token + "/";
  state->site.origin = std::move(origin);
  state->url = "http://" + state->site.host + state->site.folder;
  return LoopbackServer(std::move(state));
}

const std::string& LoopbackServer::url() const { return state_->url; }

Result<void> LoopbackServer::serve(std::map<std::string, ServedFile> files,
                                   const std::function<bool()>& is_over) {
  State& state = *state_;
  state.site.files = std::move(files);
  state.accept_next();
  state.look(is_over);
  state.context.run();
  state.acceptor.close();
  for (const auto& connection : state.connections) connection->close();
  if (!state.problem) return {};
  return fail(ErrorCode::kIo, "cannot take connections on {}: {}", state.site.host,
              state.problem.message());
}

}  // namespace ringside::app
