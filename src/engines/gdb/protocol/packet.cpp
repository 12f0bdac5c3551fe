#include "engines/gdb/protocol/packet.h"

#include <cstring>

#include "engines/gdb/protocol/hex.h"

namespace ringside::engines::gdb {

std::uint8_t checksum_of(std::string_view body) {
  unsigned sum = 0;
  for (const char c : body) sum += static_cast<unsigned char>(c);
  return static_cast<std::uint8_t>(sum);
}

std::string monitor_request(std::string_view command) {
  return "qRcmd," + encode_hex_text(command);
}

void append_packet(std::string& out, std::string_view payload) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const unsigned sum = checksum_of(payload);
  out += '$';
  out += payload;
  out += '#';
  out += kHex[sum >> 4];
  out += kHex[sum & 15u];
}

Scan scan_packet(std::string_view received) {
  if (received.empty()) return {ScanKind::kIncomplete, 0, {}};
  switch (received.front()) {
    case '+':
      return {ScanKind::kAck, 1, {}};
    case '-':
      return {ScanKind::kNak, 1, {}};
    case '$':
    case '%':
      break;
    default:
      return {ScanKind::kNoise, 1, {}};
  }
  const std::size_t end = received.find('#', 1);
  if (end == std::string_view::npos || end + 2 >= received.size()) {
    const bool endless = end == std::string_view::npos && received.size() > kMaxBody;
    return {endless ? ScanKind::kNoise : ScanKind::kIncomplete, endless ? 1u : 0u, {}};
  }
  const std::string_view body = received.substr(1, end - 1);
  if (received.front() == '%') return {ScanKind::kNotice, end + 3, body};
  const auto sum = parse_hex_number(received.substr(end + 1, 2));
  const bool right = sum && *sum == checksum_of(body);
  return {right ? ScanKind::kPacket : ScanKind::kBadChecksum, end + 3, body};
}

Result<std::string> decode_body(std::string_view body) {
  if (body.find_first_of("*}") == std::string_view::npos) return std::string(body);
  std::string decoded;
  decoded.reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '}') {
      if (++i == body.size())
        return fail(ErrorCode::kProtocol, "gdb stub: a packet ends inside an escape");
      decoded += static_cast<char>(body[i] ^ 0x20);
    } else if (body[i] == '*') {
      // gdb manual, "Overview": the count is the character's code minus 29, at least 3.
      if (++i == body.size() || decoded.empty() || body[i] < ' ' || body[i] > '~')
        return fail(ErrorCode::kProtocol, "gdb stub: broken run length at offset {} of a packet",
                    i - 1);
      decoded.append(static_cast<std::size_t>(body[i] - 29), decoded.back());
      if (decoded.size() > kMaxBody)
        return fail(ErrorCode::kProtocol, "gdb stub: a packet is longer than {} bytes", kMaxBody);
    } else {
      decoded += body[i];
    }
  }
  return decoded;
}

std::string excerpt_of(std::string_view bytes) {
  constexpr std::size_t kLength = 60;
  std::string text;
  for (const char c : bytes.substr(0, kLength)) text += c >= ' ' && c <= '~' ? c : '.';
  if (bytes.size() > kLength) text += "…";
  return text;
}

}  // namespace ringside::engines::gdb
