#include "cases/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace ringside::cases {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"kernel",   "user",  "interrupt",
                                                    "firmware", "guest", "code"};
static_assert(kKinds.size() == static_cast<std::size_t>(kLastFrameKind) + 1);

std::string stop_text(StopReason reason) {
  std::string text = name_of(reason);
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

std::optional<StopReason> stop_named(std::string_view name) {
  for (std::size_t i = 0; i < kStopReasonCount; ++i)
    if (stop_text(static_cast<StopReason>(i)) == name) return static_cast<StopReason>(i);
  return std::nullopt;
}

std::optional<ExpectedFrame> parse_frame(std::span<const std::string_view> words) {
  if (words.size() < 4 || words.size() > 5) return std::nullopt;
  const auto address = to_number(words[0]);
  const auto kind = std::find(kKinds.begin(), kKinds.end(), words[3]);
  if (!address || kind == kKinds.end() || (words[1] != "pc" && words[1] != "call"))
    return std::nullopt;
  return ExpectedFrame{{*address},
                       words[1] == "pc",
                       std::string(words[2]),
                       static_cast<FrameKind>(kind - kKinds.begin()),
                       words.size() == 5 ? std::string(words[4]) : ""};
}

std::string frame_text(const ExpectedFrame& frame) {
  return fmt::format("{:#x} {:4} {} {}", frame.address.value, frame.exact ? "pc" : "call",
                     frame.function, kKinds[static_cast<std::size_t>(frame.kind)]);
}

std::vector<std::string> lines_of(const ExpectedStack& stack) {
  std::vector<std::string> lines;
  for (const ExpectedFrame& frame : stack.frames) lines.push_back(frame_text(frame));
  lines.push_back("stop " + stop_text(stack.stop));
  return lines;
}

}  // namespace

Result<ExpectedStack> parse_expected(TextLines lines) {
  ExpectedStack stack;
  bool stopped = false;
  while (const auto words = lines.next()) {
    if ((*words)[0] == "wrong") {
      if (words->size() < 3) return lines.error("not 'wrong RULES REASON'");
      std::string& reason = stack.known_wrong[std::string((*words)[1])];
      reason = fmt::format("{}", fmt::join(words->begin() + 2, words->end(), " "));
    } else if ((*words)[0] == "class") {
      if (words->size() < 2) return lines.error("not 'class CLASS TEXT'");
      stack.class_name = (*words)[1];
      stack.class_text = fmt::format("{}", fmt::join(words->begin() + 2, words->end(), " "));
    } else if ((*words)[0] == "stop") {
      const auto reason = words->size() >= 2 ? stop_named((*words)[1]) : std::nullopt;
      if (!reason || words->size() > 3) return lines.error("not 'stop REASON HOW-CONFIRMED'");
      stack.stop = *reason;
      if (words->size() == 3) stack.stop_confirmed = (*words)[2];
      stopped = true;
    } else {
      const auto frame = parse_frame(*words);
      if (!frame) return lines.error("not 'ADDRESS pc|call FUNCTION KIND HOW-CONFIRMED'");
      stack.frames.push_back(*frame);
    }
  }
  if (!stopped) return lines.error("no line 'stop REASON'");
  return stack;
}

std::string expected_text(const ExpectedStack& stack) {
  std::string text = "# address, pc or call, function, kind, how it was confirmed\n";
  for (const ExpectedFrame& frame : stack.frames)
    text += frame_text(frame) + (frame.confirmed.empty() ? "" : " " + frame.confirmed) + "\n";
  text += "stop " + stop_text(stack.stop) +
          (stack.stop_confirmed.empty() ? "" : " " + stack.stop_confirmed) + "\n";
  if (!stack.class_name.empty())
    text += fmt::format("class {}{}{}\n", stack.class_name, stack.class_text.empty() ? "" : " ",
                        stack.class_text);
  for (const auto& [rules, reason] : stack.known_wrong)
    text += fmt::format("wrong {} {}\n", rules, reason);
  return text;
}

ExpectedStack describe(const Stack& stack, const NameOf& name_of) {
  ExpectedStack described;
  for (const Frame& frame : stack.frames)
    described.frames.push_back(
        {frame.address, frame.exact, name_of(frame.lookup_address()), frame.kind, ""});
  described.stop = stack.stop;
  return described;
}

std::string difference(const ExpectedStack& expected, const ExpectedStack& found) {
  const std::vector<std::string> want = lines_of(expected);
  const std::vector<std::string> got = lines_of(found);
  if (want == got) return {};
  // Stacks part once, as a rule: what is the same before and after stands once.
  const auto parted = std::mismatch(want.begin(), want.end(), got.begin(), got.end());
  const auto before = parted.first - want.begin();
  const auto rejoined =
      std::mismatch(want.rbegin(), want.rend() - before, got.rbegin(), got.rend() - before);
  std::string text;
  for (auto line = want.begin(); line != parted.first; ++line) text += "  " + *line + "\n";
  for (auto line = parted.first; line != rejoined.first.base(); ++line) text += "- " + *line + "\n";
  for (auto line = parted.second; line != rejoined.second.base(); ++line)
    text += "+ " + *line + "\n";
  for (auto line = rejoined.first.base(); line != want.end(); ++line) text += "  " + *line + "\n";
  return text;
}

}  // namespace ringside::cases
