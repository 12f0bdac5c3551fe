#include "importers/perf_data/threads.h"

#include <set>
#include <utility>

#include "base/least_recent.h"

namespace ringside::importers::perf_data {
namespace {

constexpr std::size_t kMostName = 64;    // bytes; the kernel's have 16
constexpr std::size_t kMostPath = 4096;  // bytes

}  // namespace

Threads::Thread& Threads::thread(std::uint32_t pid, std::uint32_t tid) {
  if (threads_.size() >= kMost) forget_least_recent(threads_);
  Thread& thread = threads_[tid];
  thread.last_use = ++uses_;
  if (thread.pid != pid) {
    // The number is another thread's now.
    thread.pid = pid;
    thread.is_recorded = false;
    thread.has_samples = false;
  }
  return thread;
}

void Threads::set_name(const CommRecord& comm) {
  Thread& named = thread(comm.pid, comm.tid);
  const std::string_view name = comm.name.substr(0, kMostName);
  if (named.name == name && named.is_recorded) return;
  named.name = name;
  named.is_recorded = false;
}

void Threads::fork(const ForkRecord& fork) {
  const auto parent = threads_.find(fork.parent_tid);
  if (parent == threads_.end()) return;
  const std::string name = parent->second.name;
  set_name({fork.pid, fork.tid, name});
}

void Threads::set_cgroup(const CgroupRecord& cgroup) {
  if (cgroups_.size() < kMostCgroups)
    cgroups_.insert_or_assign(cgroup.id, std::string(cgroup.path.substr(0, kMostPath)));
}

Result<void> Threads::note(std::uint32_t pid, std::uint32_t tid, std::uint64_t cgroup,
                           std::uint64_t time_ns, recording::Writer& writer) {
  const auto found = threads_.find(tid);
  const bool is_known = found != threads_.end() && found->second.pid == pid;
  if (!is_known && cgroup == 0) return {};
  Thread& noted = is_known ? found->second : thread(pid, tid);
  noted.last_use = ++uses_;
  noted.has_samples = true;
  if (noted.cgroup != cgroup) {
    noted.cgroup = cgroup;
    noted.is_recorded = false;
  }
  if (noted.is_recorded) return {};
  noted.is_recorded = true;
  return record(tid, noted, time_ns, writer);
}

Result<void> Threads::finish(std::uint64_t time_ns, recording::Writer& writer) const {
  std::set<std::uint32_t> tids;
  for (const auto& [tid, thread] : threads_) {
    if (!thread.has_samples) continue;
    if (!thread.is_recorded) tids.insert(tid);
    const auto main = threads_.find(thread.pid);
    if (main != threads_.end() && main->second.pid == thread.pid && !main->second.is_recorded)
      tids.insert(main->first);
  }
  for (const std::uint32_t tid : tids) RINGSIDE_TRY(record(tid, threads_.at(tid), time_ns, writer));
  return {};
}

Result<void> Threads::record(std::uint32_t tid, const Thread& thread, std::uint64_t time_ns,
                             recording::Writer& writer) const {
  const auto path = cgroups_.find(thread.cgroup);
  return writer.add_thread_name(
      {time_ns, thread.pid, tid, 0, thread.name, path == cgroups_.end() ? "" : path->second});
}

}  // namespace ringside::importers::perf_data
