#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ringside::engines::gdb {

// One piece of the answer to qfThreadInfo / qsThreadInfo: "m1,2", "mp1.1,p1.2" or "l". A thread's
// name is kept as the stub spells it. Nothing at the list's end.
[[nodiscard]] Result<std::optional<std::vector<std::string>>> parse_thread_list(
    std::string_view reply);

// QEMU's answer to qThreadExtraInfo, hexadecimal text (gdbstub.c, handle_query_thread_extra, 7.2):
// "CPU#1 [running]", "CPU#1 [halted ]", or with a device's name in front of the state.
struct ThreadExtra {
  std::optional<unsigned> cpu;
  bool halted = false;
};
[[nodiscard]] ThreadExtra parse_thread_extra(std::string_view hex_reply);

}  // namespace ringside::engines::gdb
