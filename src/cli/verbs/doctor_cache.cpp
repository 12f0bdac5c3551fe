#include "cli/verbs/doctor_cache.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/terminal.h"
#include "cli/verbs/doctor_recording.h"
#include "symbols/linux_image/kernel_cache.h"

namespace ringside::cli {
namespace {

using Entries = std::vector<symbols::KernelCache::Entry>;

std::string in_mebibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1u << 20));
}

std::string sum_of(const Entries& entries) {
  std::uint64_t bytes = 0;
  for (const symbols::KernelCache::Entry& entry : entries) bytes += entry.bytes;
  return fmt::format("{} kernel{}, {}", entries.size(), entries.size() == 1 ? "" : "s",
                     in_mebibytes(bytes));
}

}  // namespace

void say_cache() {
  const symbols::KernelCache cache;
  print("Kernels kept decoded\n");
  if (cache.folder().empty())
    return say_of("folder", "none: neither XDG_CACHE_HOME nor HOME is set");
  say_of("folder", cache.folder().string());
  if (!cache.is_usable())
    return say_of("not used", "another user owns it or could write it, or the folder around it");
  const Entries entries = cache.entries();
  for (const symbols::KernelCache::Entry& entry : entries)
    say_of(in_mebibytes(entry.bytes),
           fmt::format("{}, used {:%F %R}", entry.kernel.empty() ? "damaged" : entry.kernel,
                       fmt::localtime(std::chrono::system_clock::to_time_t(entry.used))));
  say_of("in all", fmt::format("{}, at most {} MiB", sum_of(entries),
                               symbols::KernelCache::Limits().bytes >> 20));
}

Result<void> clear_cache() {
  const symbols::KernelCache cache;
  const Entries entries = cache.entries();
  RINGSIDE_TRY(cache.clear());
  print("removed " + sum_of(entries) + "\n");
  return {};
}

}  // namespace ringside::cli
