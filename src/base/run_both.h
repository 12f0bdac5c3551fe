#pragma once

#include <future>
#include <system_error>
#include <utility>

#include "base/scheduling.h"

namespace ringside {

// Calls a function in a thread of its own, where there is a second processor and a thread to be
// had. Else nothing is called, and the result is not valid().
template <class Function>
[[nodiscard]] std::future<void> run_beside(Function function) {
  if (processors() < 2) return {};
  try {
    return std::async(std::launch::async, std::move(function));
  } catch (const std::system_error&) {  // the user may have no more threads
    return {};
  }
}

// Calls two functions that share nothing they change: at once where it can, else one after the
// other. Returns when both have. An exception of either is thrown on, that of `first` where both
// throw.
template <class First, class Second>
void run_both(const First& first, const Second& second) {
  std::future<void> running = run_beside([&second] { second(); });
  first();
  if (running.valid()) return running.get();
  second();
}

}  // namespace ringside
