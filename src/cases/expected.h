#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stack.h"
#include "cases/text_lines.h"

namespace ringside::cases {

// A stack as it must come out, as text:
//
//     # address, pc or call, function, kind, how it was confirmed
//     0xffffffff81a2b3c4 pc   clear_page_erms kernel gdb
//     0xffffffff8128a001 call clear_huge_page kernel gdb,orc
//     stop reached-user-mode orc
//     class string in clear_page_erms
//
// "pc" is the address of code being run or interrupted, "call" a return address. A function that
// has no name is "?". A line "wrong RULES TEXT" says that ringside gives another stack today when
// it takes its rules from there (a name of rules.h), and why. The line "class CLASS TEXT" says what
// the case is good for; its classes are those of tests/unwind-cases/README.md.
struct ExpectedFrame {
  GuestVirt address;
  bool exact = false;
  std::string function;
  FrameKind kind = FrameKind::kKernel;
  std::string confirmed;  // by what; empty in what ringside found
};

struct ExpectedStack {
  std::vector<ExpectedFrame> frames;
  StopReason stop = StopReason::kNoRegisters;
  std::string stop_confirmed;
  std::map<std::string, std::string, std::less<>> known_wrong;  // by rules
  std::string class_name;
  std::string class_text;
};

// Error kFormat names the line.
[[nodiscard]] Result<ExpectedStack> parse_expected(TextLines lines);
[[nodiscard]] std::string expected_text(const ExpectedStack& stack);

// The function at an address, "?" if it has no name.
using NameOf = std::function<std::string(GuestVirt)>;
[[nodiscard]] ExpectedStack describe(const Stack& stack, const NameOf& name_of);

// Both stacks as a difference, the lines of `expected` marked '-' and those of `found` '+'; empty
// where they agree in everything but confirmations.
[[nodiscard]] std::string difference(const ExpectedStack& expected, const ExpectedStack& found);

}  // namespace ringside::cases
