#include "once.h"

#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <fstream>

#include "ways.h"

namespace ringside::bench {
namespace {

using Clock = std::chrono::steady_clock;

// A line of /proc/self/status in bytes, as "RssAnon"; 0 if there is none.
std::int64_t memory(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what + ":")) return std::stoll(line.substr(what.size() + 1)) * 1024;
  return 0;
}

// Makes VmHWM start again from what is resident now (proc(5), clear_refs).
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result<void> walk_once(const std::string& name, const StackSet& set) {
  RINGSIDE_ASSIGN(const Way way, find_way(name));
  malloc_trim(0);
  forget_peak();
  const std::int64_t resident = memory("VmRSS");
  const std::int64_t anonymous = memory("RssAnon");
  const auto start = Clock::now();
  RINGSIDE_ASSIGN(const auto walker, way.make(set));
  walker->walk(set.captures.front(), set.expected.front().size());
  const double first = seconds_since(start);
  std::size_t frames = 0;
  for (std::size_t i = 0; i < set.captures.size(); ++i)
    frames += walker->walk(set.captures[i], set.expected[i].size());
  const double all = seconds_since(start);
  const std::int64_t peak = memory("VmHWM") - resident;
  malloc_trim(0);
  fmt::print(R"({{"way": "{}", "first_stack_s": {:.6f}, "all_stacks_s": {:.6f}, "frames": {}, )"
             R"("peak_bytes": {}, "private_bytes": {}}})"
             "\n",
             name, first, all, frames, peak, memory("RssAnon") - anonymous);
  return {};
}

Result<void> print_differences(const std::string& name, const StackSet& set) {
  RINGSIDE_ASSIGN(const Way way, find_way(name));
  RINGSIDE_ASSIGN(const auto walker, way.make(set));
  for (std::size_t i = 0; i < set.captures.size(); ++i) {
    walker->walk(set.captures[i], set.expected[i].size());
    const auto found = walker->addresses();
    if (found == set.expected[i]) continue;
    fmt::print("stack {}\n  expected {:#x}\n  found    {:#x}\n", i, fmt::join(set.expected[i], " "),
               fmt::join(found, " "));
  }
  return {};
}

}  // namespace ringside::bench
