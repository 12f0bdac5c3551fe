#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace ringside::app {

// A file that is served. It was opened before, so nothing can be put in its place.
struct ServedFile {
  std::shared_ptr<const MappedFile> content;
  std::string type;      // "application/json"
  std::string encoding;  // "gzip"; empty: none
  std::string policy;    // Content-Security-Policy; empty: no page may do anything with it
};

// Limits on how long clients hold a connection, and on how many they hold.
struct ServerLimits {
  std::chrono::milliseconds request{5000};   // from the connection to the end of its request
  std::chrono::milliseconds answer{10'000};  // for each MiB of an answer, and once more
  std::size_t connections = 64;
};

// Serves files to this machine alone, below a path that nobody can guess. Other users and pages of
// other origins get nothing: the path must be right, the Host header must name this server (a name
// that was bound anew to 127.0.0.1 is another one), and of other origins a browser lets only
// `origin` read. With too many connections the oldest that has not asked for that path is dropped.
class LoopbackServer {
 public:
  // `port` 0: a free one. Errors: the port is taken.
  [[nodiscard]] static Result<LoopbackServer> listen(std::uint16_t port, std::string origin,
                                                     ServerLimits limits = {});
  LoopbackServer(LoopbackServer&&) noexcept;
  LoopbackServer& operator=(LoopbackServer&&) = delete;
  ~LoopbackServer();

  // "http://127.0.0.1:PORT/TOKEN/"
  [[nodiscard]] const std::string& url() const;
  // Answers requests for url() + NAME until `is_over`, which is asked every 50 ms. Then all
  // connections are closed, whatever their clients do. To be called once.
  [[nodiscard]] Result<void> serve(std::map<std::string, ServedFile> files,
                                   const std::function<bool()>& is_over);

 private:
  struct State;
  explicit LoopbackServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ringside::app
