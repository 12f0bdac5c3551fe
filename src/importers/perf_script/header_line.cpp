#include "importers/perf_script/header_line.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/whole_number.h"
#include "importers/perf_script/frame_line.h"

namespace ringside::importers::perf_script {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kNowhere = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == kNowhere) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::string_view last_word(std::string_view text) {
  const std::size_t blank = text.find_last_of(kBlanks);
  return blank == kNowhere ? text : text.substr(blank + 1);
}

// Takes the last word off, with the blanks around it.
std::string_view take_last_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = last_word(text);
  text.remove_suffix(word.size());
  text = trimmed(text);
  return word;
}

struct TimeAt {
  std::size_t begin = kNowhere;
  std::size_t dot = 0;
  std::size_t colon = 0;
};

std::size_t digits_before(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  return begin;
}

// "12345.123456:", a word of its own.
TimeAt find_time(std::string_view line) {
  constexpr std::size_t kMostDigits = 9;  // nanoseconds
  for (std::size_t from = 0; from < line.size();) {
    const void* const found = std::memchr(line.data() + from, ':', line.size() - from);
    if (found == nullptr) break;
    const auto colon = static_cast<std::size_t>(static_cast<const char*>(found) - line.data());
    from = colon + 1;
    if (from < line.size() && !is_blank(line[from])) continue;
    const std::size_t fraction = digits_before(line, colon);
    if (fraction == colon || colon - fraction > kMostDigits || fraction < 2 ||
        line[fraction - 1] != '.')
      continue;
    const std::size_t dot = fraction - 1;
    const std::size_t begin = digits_before(line, dot);
    if (begin == dot || (begin > 0 && !is_blank(line[begin - 1]))) continue;
    return {begin, dot, colon};
  }
  return {};
}

std::optional<std::uint64_t> time_of(std::string_view line, const TimeAt& at) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  constexpr std::uint64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / kSecond;
  const auto seconds = whole_number<std::uint64_t>(line.substr(at.begin, at.dot - at.begin));
  if (!seconds || *seconds >= kMostSeconds) return std::nullopt;
  std::uint64_t fraction = 0;
  std::uint64_t unit = kSecond;
  for (std::size_t i = at.dot + 1; i < at.colon; ++i) {
    fraction = 10 * fraction + static_cast<std::uint64_t>(line[i] - '0');
    unit /= 10;
  }
  return *seconds * kSecond + fraction * unit;
}

std::string_view take_first_word(std::string_view& text) {
  std::size_t begin = 0;
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  std::size_t end = begin;
  while (end < text.size() && !is_blank(text[end])) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

bool is_hex(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789abcdef") == kNowhere;
}

// "   10101010 cycles:ppp: " behind the time.
void take_event(std::string_view text, HeaderLine& header) {
  header.rest = text;
  std::string_view word = take_first_word(text);
  std::optional<std::uint64_t> period;
  if (!word.empty() && is_digit(word.front()) && (period = whole_number<std::uint64_t>(word))) {
    std::string_view behind = text;
    word = take_first_word(behind);
    const bool is_event = word.size() > 1 && word.back() == ':';
    if (!is_event && !is_hex(word)) return;
    header.period = period;
    header.rest = text;
    if (!is_event) return;
    text = behind;
  }
  if (word.size() < 2 || word.back() != ':') return;
  header.event = word.substr(0, word.size() - 1);
  header.rest = text;
}

bool is_cpu(std::string_view word) {
  return word.size() > 2 && word.front() == '[' && word.back() == ']' &&
         whole_number<std::uint32_t>(word.substr(1, word.size() - 2));
}

// "1234", "1234/1235" or "-1".
bool take_pid(std::string_view word, Owner& owner) {
  const std::size_t slash = word.find('/');
  const auto pid = whole_number<std::int64_t>(word.substr(0, slash));
  const auto tid = slash == kNowhere ? pid : whole_number<std::int64_t>(word.substr(slash + 1));
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!pid || !tid || *pid < -1 || *tid < -1 || *pid > kMost || *tid > kMost) return false;
  if (*pid != -1) owner.pid = static_cast<std::uint32_t>(*pid);
  if (*tid != -1) owner.tid = static_cast<std::uint32_t>(*tid);
  return true;
}

bool is_number(std::string_view word) {
  Owner ignored;
  return take_pid(word, ignored) || is_cpu(word);
}

// A number behind those of the thread and the CPU is the period, and so is one of 10 columns: perf
// gives that many to no other number.
void take_period(HeaderLine& header, bool is_wide) {
  constexpr std::ptrdiff_t kWidth = 10;
  std::string_view owner = header.owner;
  const std::string_view word = take_last_word(owner);
  const char* const column = owner.empty() ? header.owner.data() : owner.data() + owner.size() + 1;
  const bool has_width = word.data() + word.size() - column >= kWidth;
  header.period = whole_number<std::uint64_t>(word);
  if (header.period && (has_width || (!is_wide && is_number(last_word(owner)))))
    header.owner = owner;
  else
    header.period.reset();
}

// Where the frame of a sample begins that has neither a time nor an event: an address has 16
// columns behind a blank.
std::size_t find_frame(std::string_view line) {
  constexpr std::size_t kWidth = 17;
  std::string_view rest = line;
  take_first_word(rest);
  while (!rest.empty()) {
    const std::string_view field = rest;
    const std::string_view word = take_first_word(rest);
    if (is_hex(word) && field.size() - rest.size() >= kWidth && word.size() < kWidth)
      return line.size() - field.size();
  }
  return line.size();
}

// A line without a time: the event is the word with a colon that follows a number, that a frame
// follows, or that is the last one.
void take_event_without_time(std::string_view line, HeaderLine& header) {
  std::string_view rest = line;
  std::string_view before;
  while (true) {
    const std::string_view word = take_first_word(rest);
    if (word.empty()) break;
    const bool has_colon = word.size() > 1 && word.back() == ':';
    const bool is_event =
        has_colon && (is_number(before) || trimmed(rest).empty() || begins_with_address(rest));
    before = word;
    if (!is_event) continue;
    header.event = word.substr(0, word.size() - 1);
    header.rest = rest;
    header.owner = line.substr(0, static_cast<std::size_t>(word.data() - line.data()));
    take_period(header, false);
    return;
  }
  const std::size_t frame = find_frame(line);
  header.owner = line.substr(0, frame);
  header.rest = line.substr(frame);
  take_period(header, header.rest.empty());
}

// "comm-1234", as ftrace has it.
void take_pid_of_comm(Owner& owner) {
  const std::size_t dash = owner.comm.rfind('-');
  if (dash == kNowhere || dash == 0) return;
  const auto pid = whole_number<std::uint32_t>(owner.comm.substr(dash + 1));
  if (!pid) return;
  owner.pid = owner.tid = *pid;
  owner.comm.remove_suffix(owner.comm.size() - dash);
}

}  // namespace

bool has_time(std::string_view line) { return find_time(line).begin != kNowhere; }

bool is_period_and_event(std::string_view line) {
  if (line.empty() || line.front() != ' ') return false;
  const HeaderLine header = parse_header_line(line);
  return header.period && !header.event.empty() && header.owner.empty() &&
         trimmed(header.rest).empty();
}

bool has_owner_and_frame(std::string_view line) {
  const HeaderLine header = parse_header_line(line);
  return !header.time_ns && !frame_in_line(header.rest).empty();
}

HeaderLine parse_header_line(std::string_view line) {
  HeaderLine header;
  const TimeAt at = find_time(line);
  if (at.begin != kNowhere) header.time_ns = time_of(line, at);
  if (!header.time_ns) {
    take_event_without_time(line, header);
    return header;
  }
  header.owner = line.substr(0, at.begin);
  take_event(line.substr(at.colon + 1), header);
  return header;
}

Owner parse_owner(std::string_view text) {
  constexpr int kMostFlags = 3;
  Owner owner;
  bool has_pid = false;
  std::string_view rest = trimmed(text);
  owner.comm = rest;
  for (int i = 0; i <= kMostFlags && !rest.empty() && !has_pid; ++i) {
    const std::string_view word = take_last_word(rest);
    if (is_cpu(word)) {
      owner.cpu = whole_number<std::uint32_t>(word.substr(1, word.size() - 2));
      owner.comm = rest;
    } else if (take_pid(word, owner)) {
      owner.comm = rest;
      has_pid = true;
    }
  }
  if (!has_pid) take_pid_of_comm(owner);
  std::string_view before = owner.comm;
  Owner redox;
  if (!owner.cpu && owner.tid && take_pid(take_last_word(before), redox) && before == kRedoxComm)
    return {before, redox.pid, redox.tid, owner.tid};
  return owner;
}

}  // namespace ringside::importers::perf_script
