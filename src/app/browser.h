#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "launch/private_folder.h"

namespace ringside::app {

// A file for its owner alone that leads a browser to a link. All users of a machine see command
// lines, so a link with a secret is in none.
class LinkFile {
 public:
  // In `private_folder`. Where the user has snaps, in a folder of its own in $HOME: a browser that
  // is a snap reads neither /tmp nor $XDG_RUNTIME_DIR. `link` has no character that HTML quotes.
  [[nodiscard]] static Result<LinkFile> create(const std::string& link,
                                               const std::filesystem::path& private_folder);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::optional<launch::PrivateFolder> folder_;  // where it is not the one that was given
  std::filesystem::path path_;
};

// Whether there is a screen that a browser can open its window on.
[[nodiscard]] bool has_screen();
// Starts the desktop's browser with xdg-open, in a session of its own: Ctrl-C is not for it. False:
// there is no xdg-open.
bool open_in_browser(const std::filesystem::path& page);

}  // namespace ringside::app
