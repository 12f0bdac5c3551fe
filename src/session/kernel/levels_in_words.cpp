#include "session/kernel/levels_in_words.h"

#include <fmt/core.h>

#include <numeric>

#include "arch/arch_info.h"

namespace ringside::session {
namespace {

constexpr double kNearlyAll = 0.95;
constexpr double kMost = 0.5;

std::uint64_t of(const SamplesByLevel& samples, PrivilegeLevel level) {
  return samples[static_cast<std::size_t>(level)];
}

}  // namespace

std::vector<std::string> levels_in_words(const SamplesByLevel& samples, Arch arch,
                                         const KernelInWords& kernel) {
  std::vector<std::string> words;
  const std::uint64_t all = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  const std::uint64_t firmware = of(samples, PrivilegeLevel::kFirmware);
  const std::uint64_t guest = of(samples, PrivilegeLevel::kGuest);
  const auto share = [all](std::uint64_t part) {
    if (part == all) return std::string("all samples are");
    return fmt::format("{:.1f} % of the samples are",
                       100.0 * static_cast<double>(part) / static_cast<double>(all));
  };
  const double least = kernel.was_seen ? kNearlyAll : kMost;
  if (firmware > 0 && static_cast<double>(firmware) >= least * static_cast<double>(all))
    words.push_back(fmt::format(
        "{} {}{}, and shown as [firmware]. If a kernel runs there, record with its ELF file: "
        "--kernel FILE",
        share(firmware), arch::info_of(arch).firmware_mode,
        kernel.file.empty() ? ", outside of any known kernel" : ", outside of " + kernel.file));
  if (guest > 0 && kernel.is_guests)
    words.push_back(fmt::format(
        "{} those of a hypervisor's guest ({}), whose kernel is {}: one frame each. The "
        "hypervisor's own functions have no names",
        share(guest), arch::info_of(arch).guest_mode, kernel.file.empty() ? "known" : kernel.file));
  else if (guest > 0)
    words.push_back(fmt::format(
        "the kernel is a hypervisor: {} its guest's ({}), and shown as [guest]. For its "
        "functions, instead of the hypervisor's, record with the guest's kernel: --kernel FILE",
        share(guest), arch::info_of(arch).guest_mode));
  return words;
}

}  // namespace ringside::session
