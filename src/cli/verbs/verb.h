#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside::cli {

class App;

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kLimitPassed = 3;

// One word of the command line: `ringside record`, `ringside report`, …
class Verb {
 public:
  virtual ~Verb() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  // Command lines that people copy, one a line, without "ringside".
  [[nodiscard]] virtual std::string examples() const = 0;
  virtual void add_options(App& app) = 0;
  // `command` is what stood behind "--". Error kUsage: wrong usage.
  [[nodiscard]] virtual Result<void> run(const std::vector<std::string>& command) = 0;
  // The exit status after run() has ended with `result`.
  [[nodiscard]] virtual int exit_status(const Result<void>& result) const {
    if (result) return kDone;
    return result.error().code == ErrorCode::kUsage ? kWrongUsage : kFailed;
  }
  // True if the verb takes a command behind "--".
  [[nodiscard]] virtual bool takes_command() const { return false; }

  // Where the command is to be started; empty: where we are.
  void set_command_folder(std::filesystem::path folder) { command_folder_ = std::move(folder); }

 protected:
  std::filesystem::path command_folder_;
};

std::vector<std::unique_ptr<Verb>> make_verbs();

}  // namespace ringside::cli
