#include "plugin/vcpu_processors.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kCountNs = 100'000'000;
constexpr std::uint64_t kEnoughTicks = 10;
constexpr std::uint64_t kFollowNs = 2'000'000'000;

}  // namespace

VcpuProcessors::VcpuProcessors() {
  if (::sched_getaffinity(0, sizeof(allowed_), &allowed_) != 0) CPU_ZERO(&allowed_);
  used_ = allowed_;
}

void VcpuProcessors::tick(std::uint64_t now_ns, std::uint64_t missed, const cpu_set_t& running) {
  cpu_set_t wanted = allowed_;
  if (follows(now_ns, missed)) CPU_AND(&wanted, &allowed_, &running);
  use(CPU_COUNT(&wanted) == 0 ? allowed_ : wanted);
}

// One tick of three is too many: a virtual machine as the host loses one of five without any load.
bool VcpuProcessors::follows(std::uint64_t now_ns, std::uint64_t missed) {
  ++given_;
  missed_ += missed;
  if (now_ns < follows_until_ns_) return true;
  const bool was_following = follows_until_ns_ != 0;
  const bool has_counted =
      now_ns >= counted_from_ns_ + kCountNs && given_ + missed_ >= kEnoughTicks;
  if (!was_following && !has_counted) return false;
  const bool is_late = !was_following && missed_ > (given_ + missed_) / 3;
  follows_until_ns_ = is_late ? now_ns + kFollowNs : 0;
  counted_from_ns_ = now_ns;
  given_ = missed_ = 0;
  return is_late;
}

void VcpuProcessors::use(const cpu_set_t& wanted) {
  if (CPU_EQUAL(&wanted, &used_)) return;
  // Somebody else may have said where QEMU's threads are to run since.
  cpu_set_t now;
  if (::sched_getaffinity(0, sizeof(now), &now) != 0) return;
  if (!CPU_EQUAL(&now, &used_)) {
    allowed_ = used_ = now;
    return;
  }
  if (::sched_setaffinity(0, sizeof(wanted), &wanted) == 0) used_ = wanted;
}

}  // namespace ringside::plugin
