#include "session/kernel/kernel_memory.h"

#include <time.h>

#include "base/clock.h"
#include "session/kernel/kernel_tables.h"

namespace ringside::session {
namespace {

constexpr int kTries = 3;
constexpr std::uint64_t kTryAgainNs = 300'000;

}  // namespace

KernelMemory::KernelMemory(engines::Engine& engine, const wire::Capture& capture)
    : engine_(&engine), vcpu_(capture.vcpu) {
  const auto physical = engine.physical_memory();
  if (!physical) return;
  auto tables = find_kernel_tables(engine, capture, **physical);
  if (!tables || !*tables) return;
  by_tables_ = std::make_unique<PagedSpace>(std::move(*tables), **physical);
}

Result<std::size_t> KernelMemory::read_up_to(GuestVirt address, std::span<std::byte> destination) {
  if (by_tables_) return by_tables_->read_up_to(address, destination);
  std::size_t done = 0;
  for (int failures = 0; done < destination.size() && failures < kTries;) {
    RINGSIDE_ASSIGN(const std::size_t size, engine_->virtual_memory(vcpu_).read_up_to(
                                                address + done, destination.subspan(done)));
    done += size;
    if (size != 0) {
      failures = 0;
    } else {
      ++failures;
      sleep_ns(kTryAgainNs);
    }
  }
  return done;
}

}  // namespace ringside::session
