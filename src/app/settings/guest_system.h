#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "guestos/adapter_options.h"

namespace ringside::app {

// The system that --os names.
[[nodiscard]] guestos::GuestOs parse_guest_os(std::string_view name);

// Options that describe the guest's system and its processes.
struct GuestSystemSettings {
  std::string os = "auto";
  std::string programs;
  std::vector<std::string> processes;
  std::string user_elf;
  std::string sysroot;
  bool debuginfod = false;  // an option of some verbs; others have it for symbols too

  // Opens the files. Errors: kUsage for what makes no sense; those of kernel_image::open_elf and
  // ProgramFiles::open, which name the file.
  [[nodiscard]] Result<guestos::AdapterOptions> options() const;
};

// How --process spells one, for help and messages.
inline constexpr const char* kProcessForm = "ROOT=NAME:ELF";

}  // namespace ringside::app
