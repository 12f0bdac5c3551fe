#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace ringside::launch {

// A QEMU command line, read the way QEMU reads it: "-option" and "--option" are the same, and all
// options but a known few take one value (qemu-options.hx of QEMU 7.2 to 10).
class QemuCommand {
 public:
  // `arguments` without the program's name.
  explicit QemuCommand(std::vector<std::string> arguments);

  [[nodiscard]] bool has(std::string_view option) const;
  // The value of the last `option`, as QEMU uses it where only one can be.
  [[nodiscard]] std::optional<std::string> value_of(std::string_view option) const;

  // The stub the user asked for with -gdb or -s. Error kUnsupported if it is not a socket.
  [[nodiscard]] Result<std::optional<std::string>> gdb_address() const;
  // True if it will only answer a question: -version, -help, "-machine help" …
  [[nodiscard]] bool only_prints() const;
  // True if QEMU uses the terminal, so that nobody else should draw on it.
  [[nodiscard]] bool uses_terminal() const;
  // True if QEMU puts the terminal into raw mode with Ctrl-C going to the guest.
  [[nodiscard]] bool terminal_is_raw() const;

  // True if nothing runs in the machine but what -kernel names, and a few instructions of QEMU's
  // own that start it. `arch` is the machine's.
  [[nodiscard]] bool has_no_firmware(Arch arch) const;
  // True if all code in the mode of firmware is QEMU's own OpenSBI: no kernel starts in that mode.
  [[nodiscard]] bool has_qemus_firmware(Arch arch) const;

  // How many vCPUs -smp gives at most; 1 without.
  [[nodiscard]] unsigned vcpus() const;
  // True if all vCPUs take turns in one thread under TCG: -icount, or -accel tcg,thread=single.
  [[nodiscard]] bool has_one_thread() const;

  void add(std::string option, std::string value);
  // Replaces the value of the first `option`.
  void replace_first(std::string_view option, const std::string& value);

  [[nodiscard]] std::vector<std::string> arguments() const;

  struct Option {
    std::string name;  // without dashes; empty for a disk image given by itself
    std::optional<std::string> value;
  };
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }

 private:
  [[nodiscard]] bool names_flash() const;

  std::vector<Option> options_;
};

// A text inside an option's value, where QEMU reads ",," as a comma.
[[nodiscard]] std::string escape_value(std::string_view text);

// Why the guests of this QEMU cannot be sampled, by its file name: their architecture is not known
// here. Empty for all other programs.
[[nodiscard]] std::string explain_unknown_architecture(std::string_view program);

// True if `program` is QEMU's system emulator by its file name.
[[nodiscard]] bool is_qemu_program(std::string_view program);

}  // namespace ringside::launch
