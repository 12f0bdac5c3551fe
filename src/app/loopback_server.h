#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace ringside::app {

// A file that is served.
struct ServedFile {
  std::filesystem::path path;
  std::string type;      // "application/json"
  std::string encoding;  // "gzip"; empty: none
};

// Serves files to this machine alone, below a path that nobody can guess. Other users and pages of
// other origins get nothing: the path must be right, the Host header must name this server (a name
// that was bound anew to 127.0.0.1 is another one), and of other origins a browser lets only
// `origin` read. Who sees the browser's command line while it starts sees the path, too.
class LoopbackServer {
 public:
  // `port` 0: a free one. Errors: the port is taken.
  [[nodiscard]] static Result<LoopbackServer> listen(std::uint16_t port, std::string origin);
  LoopbackServer(LoopbackServer&&) noexcept;
  LoopbackServer& operator=(LoopbackServer&&) = delete;
  ~LoopbackServer();

  // "http://127.0.0.1:PORT/TOKEN/"
  [[nodiscard]] const std::string& url() const;
  // Answers requests for url() + NAME until `is_over`. To be called once.
  [[nodiscard]] Result<void> serve(std::map<std::string, ServedFile> files,
                                   const std::function<bool()>& is_over);

 private:
  struct State;
  explicit LoopbackServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ringside::app
