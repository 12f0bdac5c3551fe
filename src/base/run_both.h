#pragma once

#include <future>
#include <system_error>

#include "base/scheduling.h"

namespace ringside {

// Calls two functions that share nothing they change: at once where there is a second processor and
// a thread to be had, else one after the other. Returns when both have. An exception of either is
// thrown on, that of `first` where both throw.
template <class First, class Second>
void run_both(const First& first, const Second& second) {
  std::future<void> running;
  if (processors() > 1) {
    try {
      running = std::async(std::launch::async, [&second] { second(); });
    } catch (const std::system_error&) {  // the user may have no more threads
    }
  }
  first();
  if (running.valid()) return running.get();
  second();
}

}  // namespace ringside
