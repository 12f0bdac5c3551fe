#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// The framing of the gdb remote serial protocol (gdb manual, "Remote Protocol", "Overview"):
// $body#xx, where xx is the sum of the body's bytes modulo 256.

namespace ringside::engines::gdb {

// Bodies longer than this are an error. QEMU's are at most 4 KiB; other stubs say their PacketSize.
inline constexpr std::size_t kMaxBody = 1u << 20;

[[nodiscard]] std::uint8_t checksum_of(std::string_view body);

// Appends $payload#xx. The payload must not hold '$', '#', '}' or '*': none of our requests does.
void append_packet(std::string& out, std::string_view payload);

// The request for what QEMU's monitor prints for a command.
[[nodiscard]] std::string monitor_request(std::string_view command);

enum class ScanKind {
  kIncomplete,   // a packet has begun, or there is nothing: wait for more bytes
  kPacket,       // `body` is a packet whose checksum is right
  kBadChecksum,  // `body` is a packet whose checksum is wrong
  kAck,          // '+'
  kNak,          // '-': the other side wants the last packet again
  kNotice,       // a notification packet (%…#xx), to be ignored
  kNoise,        // a byte that begins nothing, or a body without end
};

struct Scan {
  ScanKind kind;
  std::size_t consumed;   // bytes to drop from the front
  std::string_view body;  // as sent: escapes and runs are still there
};

// Looks at the front of what was received.
[[nodiscard]] Scan scan_packet(std::string_view received);

// Undoes run-length encoding ("0* " is "0000") and escapes ('}' and a byte xor 0x20).
[[nodiscard]] Result<std::string> decode_body(std::string_view body);

// For messages: printable, at most 60 characters.
[[nodiscard]] std::string excerpt_of(std::string_view bytes);

}  // namespace ringside::engines::gdb
