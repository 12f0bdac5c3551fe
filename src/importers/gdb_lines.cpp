#include "importers/gdb_lines.h"

#include <algorithm>
#include <charconv>

namespace ringside::importers {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kUnknown = "??";
constexpr std::string_view kSignal = "<signal handler called>";
constexpr std::string_view kIn = " in ";
constexpr std::string_view kArguments = " (";

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

bool skip(std::string_view& text, std::string_view what) {
  const bool is_there = text.starts_with(what);
  if (is_there) text.remove_prefix(what.size());
  return is_there;
}

template <class T>
std::optional<T> take_number(std::string_view& text, int base = 10) {
  T value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return value;
}

// The number behind the first `word` of a line.
std::optional<std::uint32_t> number_behind(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + word.size());
  return take_number<std::uint32_t>(line);
}

// Takes "0xADDRESS in ".
std::optional<GuestVirt> take_address(std::string_view& text) {
  std::string_view rest = text;
  if (!skip(rest, "0x")) return std::nullopt;
  const auto address = take_number<std::uint64_t>(rest, 16);
  if (!address || !skip(rest, kIn)) return std::nullopt;
  text = rest;
  return GuestVirt{*address};
}

// Where the arguments begin: at the first " (" outside of the brackets of a name. An operator such
// as operator< has one that is never closed: it is the first " (" of all then.
std::size_t find_arguments(std::string_view text) {
  int angles = 0;
  int rounds = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (i > 0 && angles == 0 && rounds == 0 && text.substr(i).starts_with(kArguments)) return i;
    if (c == '<') ++angles;
    if (c == '>' && !is_arrow && angles > 0) --angles;
    if (c == '(') ++rounds;
    if (c == ')' && rounds > 0) --rounds;
  }
  return text.find(kArguments, 1);
}

// "FILE:LINE" at the end of a frame's line.
void take_place(std::string_view text, GdbFrame& frame) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return;
  std::string_view digits = text.substr(colon + 1);
  const auto line = take_number<std::uint32_t>(digits);
  if (!line || !digits.empty()) return;
  frame.file = text.substr(0, colon);
  frame.line = *line;
}

// The text behind the arguments.
void take_end(std::string_view rest, GdbFrame& frame) {
  constexpr std::string_view kAt = ") at ";
  constexpr std::string_view kFrom = ") from ";
  const std::size_t at = rest.rfind(kAt);
  const std::size_t from = rest.rfind(kFrom);
  const auto is_last = [](std::size_t one, std::size_t other) {
    return one != std::string_view::npos && (other == std::string_view::npos || one > other);
  };
  if (is_last(from, at))
    frame.library = rest.substr(from + kFrom.size());
  else if (is_last(at, from))
    take_place(rest.substr(at + kAt.size()), frame);
}

// Whether a frame's line has its arguments whole.
bool is_whole(std::string_view line) {
  return line.ends_with(')') || line.ends_with(kSignal) ||
         line.find(") at ") != std::string_view::npos ||
         line.find(") from ") != std::string_view::npos;
}

std::string_view quoted(std::string_view line) {
  const std::size_t first = line.find('"');
  const std::size_t last = line.rfind('"');
  return first >= last ? std::string_view() : line.substr(first + 1, last - first - 1);
}

}  // namespace

std::optional<GdbFrame> parse_gdb_frame(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
  GdbFrame frame;
  if (!skip(line, "#")) return std::nullopt;
  const auto number = take_number<std::uint32_t>(line);
  if (!number || !line.starts_with(' ')) return std::nullopt;
  frame.number = *number;
  skip_blanks(line);
  frame.address = take_address(line);
  skip_blanks(line);
  if (line.starts_with(kSignal)) {
    frame.function = kSignal;
    frame.is_signal = true;
    return frame;
  }
  const std::size_t arguments = std::min(find_arguments(line), line.size());
  frame.function = line.substr(0, arguments);
  if (frame.function.empty()) return std::nullopt;
  if (frame.function == kUnknown) frame.function = {};
  take_end(line.substr(arguments), frame);
  return frame;
}

bool is_gdb_continuation(std::string_view line, std::string_view next) {
  if (next.empty() || next.find_first_of(kBlanks) != 0) return false;
  skip_blanks(next);
  if (next.empty()) return false;
  if (!is_whole(line)) return true;
  const bool is_end = next.starts_with("at ") || next.starts_with("from ");
  return is_end && line.ends_with(')') && next.find(" = ") == std::string_view::npos;
}

std::optional<GdbThread> parse_gdb_thread(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
  const bool is_vcpu = line.ends_with("[running])):") || line.ends_with("[halted ])):");
  constexpr std::string_view kThread = "Thread ";
  if (!is_vcpu && !(line.starts_with(kThread) && line.ends_with("):"))) return std::nullopt;
  const auto number = number_behind(line, kThread);
  if (!number) return std::nullopt;
  GdbThread thread;
  thread.number = *number;
  thread.cpu = number_behind(line, "CPU#");
  // A machine of several clusters has other names; threads are numbered as vCPUs, from 1.
  if (!thread.cpu && is_vcpu && *number != 0) thread.cpu = *number - 1;
  thread.lwp = number_behind(line, "(LWP ");
  thread.name = quoted(line);
  return thread;
}

std::string without_colors(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b' || i + 1 == line.size() || line[i + 1] != '[') {
      plain += line[i];
      continue;
    }
    i += 2;
    while (i < line.size() && (line[i] == ';' || (line[i] >= '0' && line[i] <= '9'))) ++i;
  }
  return plain;
}

}  // namespace ringside::importers
