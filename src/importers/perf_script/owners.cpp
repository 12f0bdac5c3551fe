#include "importers/perf_script/owners.h"

#include "importers/perf_script/header_line.h"
#include "profile/sanitize.h"

namespace ringside::importers::perf_script {
namespace {

constexpr std::size_t kLongestComm = 4096;  // bytes; Linux has 15

}  // namespace

Result<const Owners::Known*> Owners::find(std::string_view text, std::uint64_t time_ns) {
  const TextKey key(text);
  Entry* entry = entries_.find(key);
  if (entry == nullptr) {
    if (entries_.is_full()) forget();
    entry = &entries_.add(key);
    *entry = read(text);
  }
  if (entry->thread == kNone || named_[entry->thread] == entry->comm) return &entry->known;
  named_[entry->thread] = entry->comm;
  RINGSIDE_TRY(writer_.add_thread_name(
      {time_ns, *entry->known.pid, *entry->known.tid, 0, comms_[entry->comm]}));
  return &entry->known;
}

void Owners::forget() {
  entries_.clear();
  threads_.clear();
  named_.clear();
  numbers_.clear();
  comms_.clear();
}

Owners::Entry Owners::read(std::string_view text) {
  Owner owner = parse_owner(text);
  Entry entry;
  if (owner.cpu && *owner.cpu < recording::kNoVcpu.value)
    entry.known.vcpu.value = static_cast<std::uint16_t>(*owner.cpu);
  entry.known.is_redox = owner.comm == kRedoxComm;
  // As ringside writes it of no process, and as perf does of a thread whose name it does not know.
  const bool is_nobody = owner.comm == profile::kNobodyName && owner.pid == 0u && owner.tid == 0u;
  if (is_nobody) return entry;
  entry.known.pid = owner.pid;
  entry.known.tid = owner.tid;
  const bool is_named = !owner.comm.empty() && owner.pid && owner.tid &&
                        owner.comm != profile::unnamed_thread(*owner.tid);
  if (!is_named) return entry;
  const std::uint64_t thread = std::uint64_t{*owner.pid} << 32 | *owner.tid;
  const auto [it, added] = threads_.try_emplace(thread, static_cast<std::uint32_t>(named_.size()));
  if (added) named_.push_back(kNone);
  entry.thread = it->second;
  const auto [comm, is_new] = numbers_.try_emplace(std::string(owner.comm.substr(0, kLongestComm)),
                                                   static_cast<std::uint32_t>(comms_.size()));
  if (is_new) comms_.push_back(comm->first);
  entry.comm = comm->second;
  return entry;
}

}  // namespace ringside::importers::perf_script
