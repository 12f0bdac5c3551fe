#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace ringside::engines::qmp {

// Memory by the human monitor's dump commands, `x` (a vCPU's virtual memory) and `xp` (physical): a
// whole block in one command, in words of 8 bytes. Much the same time for 8 bytes as for 2 KiB
// (0.35 and 0.5 ms); `memsave` into a file takes 1.4 ms and more (QEMU 7.2 and 10.0, 2 processors).

// The command that prints the words in which `size` bytes at `address` lie. `dump`: "x" or "xp".
[[nodiscard]] std::string dump_command(std::string_view dump, std::uint64_t address,
                                       std::size_t size);

// How much a command is asked for at most: 16 KiB, some 2 ms of QEMU's main loop.
inline constexpr std::size_t kDumpBytes = 16 * 1024;

// Reads what such a command printed, and puts the bytes from `address` on into `destination`.
// Returns their number: fewer than asked where the monitor could not read on.
[[nodiscard]] std::size_t parse_dump(std::string_view text, std::uint64_t address,
                                     std::span<std::byte> destination);

// The guest-physical address that `gva2gpa` printed; nothing for a page that is not mapped.
[[nodiscard]] std::optional<GuestPhys> parse_translation(std::string_view text);

}  // namespace ringside::engines::qmp
