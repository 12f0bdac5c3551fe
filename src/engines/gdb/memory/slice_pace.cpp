#include "engines/gdb/memory/slice_pace.h"

#include <algorithm>

namespace ringside::engines::gdb {
namespace {

constexpr std::size_t kGrowth = 4;
constexpr std::size_t kMostChunks = 32;

}  // namespace

std::size_t SlicePace::within(std::uint64_t ns) const {
  const std::uint64_t chunks = ns / std::max<std::uint64_t>(ns_per_chunk_, 1);
  return std::min({static_cast<std::size_t>(chunks), kGrowth * largest_, kMostChunks});
}

std::size_t SlicePace::with_stop(std::uint64_t limit_ns) const {
  return std::max<std::size_t>(within(limit_ns / 2), 1);
}

std::size_t SlicePace::with_continue(std::uint64_t limit_ns, std::uint64_t stood_ns) const {
  return stood_ns < limit_ns ? within(limit_ns - stood_ns) : 0;
}

void SlicePace::took(std::size_t chunks, std::uint64_t ns) {
  const std::uint64_t each = ns / std::max<std::size_t>(chunks, 1);
  ns_per_chunk_ = std::max(each, (ns_per_chunk_ + each) / 2);
  largest_ = std::max(largest_, chunks);
}

}  // namespace ringside::engines::gdb
