#include "session/one_shot.h"

#include <algorithm>
#include <utility>

namespace ringside::session {
namespace {

using wire::Disposition;

OneShot::Gap gap_of(const EarlySamples::Sample& sample, bool has_processes) {
  OneShot::Gap gap{.vcpu = sample.info.vcpu};
  gap.is_missing = sample.info.disposition == Disposition::kFailed;
  if (sample.info.disposition != Disposition::kSampled) return gap;
  bool reaches_user = sample.info.level == PrivilegeLevel::kUser;
  for (const Stack& part : sample.parts) {
    if (!is_complete(part.stop)) gap.cut = part.stop;
    reaches_user |= part.stop == StopReason::kUserMode;
  }
  gap.has_no_process = !sample.info.pid && (has_processes || reaches_user);
  return gap;
}

bool is_whole(const OneShot::Gap& gap) {
  return !gap.is_missing && !gap.cut && !gap.has_no_process;
}

// A vCPU that is idle or left out shows no stack. Where the process is not known, the stack may
// look complete for want of the user code's part.
int rank(const EarlySamples::Sample& sample, const OneShot::Gap& gap) {
  if (gap.is_missing) return 0;
  if (sample.info.disposition != Disposition::kSampled) return 1;
  return 2 + 2 * !gap.has_no_process + !gap.cut.has_value();
}

}  // namespace

std::uint64_t OneShot::keep(EarlySamples::Sample sample, bool has_processes) {
  const Gap gap = gap_of(sample, has_processes);
  const auto [place, is_first] = kept_.try_emplace(gap.vcpu.value);
  Kept& kept = place->second;
  kept.is_new |= !gap.is_missing;
  if (!is_first && rank(sample, gap) < rank(kept.sample, kept.gap)) return sample.info.weight;
  const std::uint64_t gone = is_first ? 0 : kept.sample.info.weight;
  kept.sample = std::move(sample);
  kept.gap = gap;
  return gone;
}

std::uint64_t OneShot::start_over() {
  std::uint64_t ticks = 0;
  for (const auto& [vcpu, kept] : kept_) ticks += kept.sample.info.weight;
  kept_.clear();
  return ticks;
}

bool OneShot::is_of_one_moment() const {
  return std::all_of(kept_.begin(), kept_.end(), [this](const auto& kept) {
    return kept.second.sample.info.time_ns == kept_.begin()->second.sample.info.time_ns;
  });
}

void OneShot::end_round(std::uint64_t now_ns, bool kernel_is_known) {
  if (++rounds_ == 1) first_ns_ = now_ns;
  counts_ = kernel_is_known || now_ns >= first_ns_ + kKernelPatienceNs;
  for (auto& [vcpu, kept] : kept_)
    if (std::exchange(kept.is_new, false) && counts_) ++kept.states;
}

bool OneShot::is_done(std::uint64_t now_ns) const {
  if (rounds_ == 0) return false;
  if (now_ns >= first_ns_ + kPatienceNs) return true;
  return counts_ && kept_.size() == vcpus_ &&
         std::all_of(kept_.begin(), kept_.end(), [](const auto& kept) {
           return is_whole(kept.second.gap) || kept.second.states >= kMostRounds;
         });
}

std::vector<OneShot::Gap> OneShot::gaps() const {
  std::vector<Gap> gaps;
  for (std::size_t n = 0; n < vcpus_; ++n) {
    const auto vcpu = static_cast<std::uint16_t>(n);
    const auto kept = kept_.find(vcpu);
    if (kept == kept_.end())
      gaps.push_back({.vcpu = VcpuId{vcpu}, .is_missing = true});
    else if (!is_whole(kept->second.gap))
      gaps.push_back(kept->second.gap);
  }
  return gaps;
}

Result<void> OneShot::write(const EarlySamples::Write& write) const {
  for (const auto& [vcpu, kept] : kept_) RINGSIDE_TRY(write(kept.sample));
  return {};
}

}  // namespace ringside::session
