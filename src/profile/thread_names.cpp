#include "profile/thread_names.h"

#include <iterator>

#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

constexpr std::uint32_t kWholeProcess = 0;  // as a tid

std::uint64_t key_of(std::uint32_t pid, std::uint32_t tid) {
  return std::uint64_t{pid} << 32 | tid;
}

}  // namespace

void ThreadNames::add(const recording::ThreadName& value) {
  const auto intern = [this](const std::string& text) {
    return text.empty() ? 0 : strings_.intern(sanitize(text));
  };
  names_[key_of(value.pid, value.tid)][value.time_ns] = {intern(value.name), intern(value.cgroup),
                                                         value.of_many};
}

const ThreadNames::Names::value_type* ThreadNames::latest(std::uint64_t time_ns, std::uint32_t pid,
                                                          std::uint32_t tid) const {
  const auto found = names_.find(key_of(pid, tid));
  if (found == names_.end()) return nullptr;
  const auto behind = found->second.upper_bound(time_ns);
  return behind == found->second.begin() ? nullptr : &*std::prev(behind);
}

ThreadNames::Called ThreadNames::at(std::uint64_t time_ns, std::uint32_t pid,
                                    std::optional<std::uint32_t> tid) const {
  const auto* own = latest(time_ns, pid, tid.value_or(pid));
  const auto* process = latest(time_ns, pid, kWholeProcess);
  if (own == nullptr || (process != nullptr && process->first > own->first)) own = process;
  return own == nullptr ? Called() : own->second;
}

}  // namespace ringside::profile
