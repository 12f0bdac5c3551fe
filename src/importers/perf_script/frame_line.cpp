#include "importers/perf_script/frame_line.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/whole_number.h"

namespace ringside::importers::perf_script {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::string_view kUnknown = "[unknown]";
constexpr std::string_view kInlined = " (inlined)";

std::string_view without_blanks_in_front(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}
std::string_view without_blanks_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  const bool is_there = text.ends_with(suffix);
  if (is_there) text.remove_suffix(suffix.size());
  return is_there;
}

// Where "(FILE)" begins at the end of a line: at the bracket that the last one closes, else at the
// last one.
std::size_t find_file(std::string_view text) {
  int open = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++open;
    if (text[i] != '(' || --open > 0) continue;
    if (i == 0 || text[i - 1] == ' ') return i;
    break;
  }
  const std::size_t last = text.rfind(" (/");
  return last == kNowhere ? kNowhere : last + 1;
}

// Takes "+0x1f" off the end.
void take_offset(std::string_view& text) {
  const std::size_t plus = text.rfind("+0x");
  if (plus == kNowhere || plus == 0 || plus + 3 == text.size()) return;
  if (text.find_first_not_of("0123456789abcdef", plus + 3) == kNowhere)
    text.remove_suffix(text.size() - plus);
}

// The text behind the address.
void take_names(std::string_view text, FrameLine& frame) {
  text = without_blanks_behind(text);
  frame.inlined = take_suffix(text, kInlined);
  if (!frame.inlined && text.ends_with(')')) {
    const std::size_t begin = find_file(text);
    if (begin != kNowhere) {
      frame.file = text.substr(begin + 1, text.size() - begin - 2);
      take_offset(frame.file);  // -F dsoff
      if (frame.file == kUnknown) frame.file = {};
      text.remove_suffix(text.size() - begin);
    }
  }
  text = without_blanks_behind(text);
  take_offset(text);
  if (text != kUnknown) frame.symbol = text;
}

}  // namespace

std::optional<FrameLine> parse_frame_line(std::string_view line) {
  line = without_blanks_in_front(line);
  FrameLine frame;
  const char* const end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data(), end, frame.address.value, 16);
  if (parsed.ec != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(parsed.ptr - line.data()));
  if (!line.empty() && kBlanks.find(line.front()) == kNowhere) return std::nullopt;
  take_names(without_blanks_in_front(line), frame);
  return frame;
}

bool stands_alone(std::string_view line) {
  constexpr std::size_t kEnd = 17;  // of the address
  if (!line.starts_with(' ') || !parse_frame_line(line)) return false;
  return std::min(line.find_first_of(kBlanks, line.find_first_not_of(' ')), line.size()) == kEnd;
}

bool begins_with_address(std::string_view rest) {
  constexpr std::size_t kWidth = 16;  // of an address
  const std::string_view text = without_blanks_in_front(rest);
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  return rest.size() - text.size() + end >= kWidth && !word.empty() &&
         word.find_first_not_of("0123456789abcdefABCDEF") == kNowhere;
}

std::string_view frame_in_line(std::string_view rest) {
  if (!begins_with_address(rest)) return {};
  std::string_view text = without_blanks_in_front(rest);
  text = text.substr(0, text.find(" => "));
  return parse_frame_line(text) ? text : std::string_view();
}

std::optional<SourceLine> parse_source_line(std::string_view line) {
  if (!line.starts_with("  ")) return std::nullopt;
  std::string_view text = without_blanks_behind(without_blanks_in_front(line));
  SourceLine source;
  source.inlined = take_suffix(text, kInlined);
  if (text.ends_with(']')) return source;
  text = text.substr(0, text.find(" (discriminator"));
  const std::size_t colon = text.rfind(':');
  if (colon == kNowhere) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  const auto number = whole_number<std::uint32_t>(digits);
  if (!number && digits != "?") return std::nullopt;
  source.line = number.value_or(0);
  if (source.line != 0) source.file = text.substr(0, colon);
  return source;
}

bool is_jit_map(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("perf-") && name.ends_with(".map");
}

bool is_whole_kernel(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name == "vmlinux" || name.starts_with("vmlinux-") || name.starts_with("[kernel.") ||
         name == "[kernel]" || name == "vmlinuz" || name.starts_with("vmlinuz-");
}

bool is_kernel(const FrameLine& frame) {
  // Other names that perf has in square brackets: parts of a process, as /proc/PID/maps names them.
  constexpr std::array<std::string_view, 8> kOfUsers = {"vdso", "vdso32", "vdsox32", "vsyscall",
                                                        "heap", "stack",  "anon",    "uprobes"};
  constexpr std::array<std::string_view, 4> kModules = {".ko", ".ko.gz", ".ko.xz", ".ko.zst"};
  constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 63;
  constexpr std::uint64_t kErrors = ~std::uint64_t{0} - 4095;  // no code is that high
  const std::string_view file = frame.file;
  if (file.starts_with('[') && file.ends_with(']')) {
    const std::string_view name = file.substr(1, file.find_first_of(":]") - 1);
    return std::find(kOfUsers.begin(), kOfUsers.end(), name) == kOfUsers.end();
  }
  const std::uint64_t address = frame.address.value;
  return (address >= kUpperHalf && address < kErrors) || is_whole_kernel(file) ||
         std::any_of(kModules.begin(), kModules.end(),
                     [&](std::string_view end) { return file.ends_with(end); });
}

}  // namespace ringside::importers::perf_script
