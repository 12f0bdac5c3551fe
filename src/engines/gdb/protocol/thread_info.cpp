#include "engines/gdb/protocol/thread_info.h"

#include <charconv>

#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/protocol/packet.h"

namespace ringside::engines::gdb {

Result<std::optional<std::vector<std::string>>> parse_thread_list(std::string_view reply) {
  if (reply == "l") return std::nullopt;
  if (reply.size() < 2 || reply.front() != 'm')
    return fail(ErrorCode::kProtocol, "gdb stub: not a list of threads: '{}'", excerpt_of(reply));
  reply.remove_prefix(1);
  std::vector<std::string> threads;
  while (!reply.empty()) {
    const std::size_t comma = reply.find(',');
    const std::string_view thread = reply.substr(0, comma);
    if (thread.empty() || thread.find_first_not_of("0123456789abcdefABCDEFp.") != thread.npos)
      return fail(ErrorCode::kProtocol, "gdb stub: not a thread: '{}'", excerpt_of(thread));
    threads.emplace_back(thread);
    reply.remove_prefix(comma == reply.npos ? reply.size() : comma + 1);
  }
  return threads;
}

ThreadExtra parse_thread_extra(std::string_view hex_reply) {
  const std::string text = decode_hex_text(hex_reply);
  ThreadExtra extra;
  extra.halted = text.find("[halted") != std::string::npos;
  constexpr std::string_view kCpu = "CPU#";
  if (const std::size_t at = text.find(kCpu); at != std::string::npos) {
    unsigned number = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + at + kCpu.size(), end, number);
    if (parsed.ec == std::errc{}) extra.cpu = number;
  }
  return extra;
}

}  // namespace ringside::engines::gdb
