#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stack.h"

namespace ringside::cases {

// A stack as it must come out, as text:
//
//     # address, pc or call, function, kind, how it was confirmed
//     0xffffffff81a2b3c4 pc   clear_page_erms kernel gdb
//     0xffffffff8128a001 call clear_huge_page kernel gdb,orc
//     stop reached-user-mode orc
//
// "pc" is the address of code being run or interrupted, "call" a return address. A function that
// has no name is "?". A line "wrong TEXT" says that ringside gives another stack today, and why.
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
  std::string known_wrong;  // empty: ringside must give this stack
};

// Errors name `name` and the line.
[[nodiscard]] Result<ExpectedStack> parse_expected(std::string_view text, const std::string& name);
[[nodiscard]] std::string expected_text(const ExpectedStack& stack);

// The function at an address, "?" if it has no name.
using NameOf = std::function<std::string(GuestVirt)>;
[[nodiscard]] ExpectedStack describe(const Stack& stack, const NameOf& name_of);

// Both stacks as a difference, the lines of `expected` marked '-' and those of `found` '+'; empty
// where they agree in everything but confirmations.
[[nodiscard]] std::string difference(const ExpectedStack& expected, const ExpectedStack& found);

}  // namespace ringside::cases
