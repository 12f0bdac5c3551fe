#include "importers/pprof/thread_names.h"

#include "profile/sanitize.h"

namespace ringside::importers::pprof {
namespace {

constexpr std::size_t kMostThreads = 1 << 20;

}  // namespace

Result<void> ThreadNames::add(std::uint64_t time, SampleOwner& owner) {
  has_numbers_ |= owner.pid || owner.tid;
  if (!owner.pid && owner.tid && !owner.name.empty()) owner.pid = owner.tid;
  const bool is_someone = !owner.name.empty() && owner.name != profile::kNobodyName &&
                          owner.name != profile::kInterruptName;
  if (!owner.pid && is_someone && !has_numbers_ && pids_.size() < kMostThreads)
    owner.pid = pids_.try_emplace(owner.name, pids_.size() + 1).first->second;
  if (!owner.pid) return {};
  if (called_.size() >= kMostThreads) called_.clear();
  const std::uint32_t tid = owner.tid.value_or(*owner.pid);
  Called& called = called_[std::uint64_t{*owner.pid} << 32 | tid];
  const Called now{owner.name == profile::kNobodyName ? std::string_view() : owner.name,
                   owner.cgroup};
  if (now == called) return {};
  called = now;
  recording::ThreadName name;
  name.time_ns = time;
  name.pid = *owner.pid;
  name.tid = tid;
  name.name = now.name;
  name.cgroup = now.cgroup;
  return writer_.add_thread_name(name);
}

}  // namespace ringside::importers::pprof
