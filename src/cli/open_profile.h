#pragma once

#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace CLI {
class App;
}

namespace ringside::cli {

// The options of every verb that reads a recording.
struct ReaderFlags {
  std::string input = "ringside.data";
  std::string kernel;
  std::string demangle = "full";
  std::string cpus;
  bool kernel_only = false;
  bool user_only = false;
  bool show_addresses = false;

  void add_to(CLI::App& app);
};

// Reads and names a recording. Says on standard error what is missing.
[[nodiscard]] Result<profile::Profile> open_profile(const ReaderFlags& flags);

}  // namespace ringside::cli
