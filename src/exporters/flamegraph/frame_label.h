#pragma once

#include <string>
#include <string_view>

namespace ringside::exporters {

// A function's name in at most `room` characters, "…" where something was left out. The parts most
// worth reading stay: the function's own name, then its outermost scope.
//   std::vector<int, std::allocator<int>>::push_back(int const&)   in 60 characters
//   std::vector<…>::push_back(…)                                   in 28
//   std::…::push_back(…)                                           in 20
//   …::push_back(…)                                                in 15
//   push_bac…                                                      in 9
//   pus…                                                           in 4
//                                                                  in 3: two letters name nothing
// flamegraph_label.js does the same when the picture changes its size. `name` is UTF-8.
[[nodiscard]] std::string frame_label(std::string_view name, std::size_t room);

}  // namespace ringside::exporters
