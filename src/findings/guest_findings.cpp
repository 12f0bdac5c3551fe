#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "arch/arch_info.h"
#include "findings/findings.h"

namespace ringside::findings {
namespace {

using kernel_image::MatchResult;
using Sentences = std::vector<std::string>;

constexpr double kNearlyAll = 0.95;
constexpr double kMost = 0.5;

std::uint64_t samples(const GuestFacts& guest, PrivilegeLevel level) {
  return guest.samples_by_level[static_cast<std::size_t>(level)];
}

std::uint64_t all_samples(const GuestFacts& guest) {
  const auto& by_level = guest.samples_by_level;
  return std::accumulate(by_level.begin(), by_level.end(), std::uint64_t{0});
}

// "25.0 % of the samples are".
std::string share(const GuestFacts& guest, PrivilegeLevel level) {
  const std::uint64_t part = samples(guest, level);
  const std::uint64_t all = all_samples(guest);
  if (part == all) return "all samples are";
  return fmt::format("{:.1f} % of the samples are",
                     100.0 * static_cast<double>(part) / static_cast<double>(all));
}

// A file was compared with memory where kernel code ran.
bool is(const GuestFacts& guest, MatchResult sameness) {
  const bool is_about_the_file = guest.kernel_was_found || !guest.has_symbols;
  return samples(guest, PrivilegeLevel::kKernel) > 0 && guest.was_looked_for && guest.identity &&
         is_about_the_file && guest.identity->sameness == sameness;
}

bool differs_by_text(const GuestFacts& guest) {
  return is(guest, MatchResult::kDifferent) &&
         guest.identity->evidence == kernel_image::kTextEvidence;
}

bool misses_kernel(const GuestFacts& guest) {
  return samples(guest, PrivilegeLevel::kKernel) > guest.trap_loops && guest.was_looked_for &&
         !guest.kernel_was_found && !guest.identity;
}

// Beside a kernel much firmware runs, as long as that is not all.
bool is_firmware(const GuestFacts& guest) {
  const double least = guest.kernel_was_found ? kNearlyAll : kMost;
  const std::uint64_t firmware = samples(guest, PrivilegeLevel::kFirmware);
  return firmware > 0 &&
         static_cast<double>(firmware) >= least * static_cast<double>(all_samples(guest));
}

bool has_guests(const GuestFacts& guest) { return samples(guest, PrivilegeLevel::kGuest) > 0; }

constexpr Finding<GuestFacts> kOfGuest[] = {
    {"kernel-left", [](const GuestFacts& guest) { return !guest.kernel_left_s.empty(); },
     [](const GuestFacts& guest) {
       constexpr std::size_t kShown = 5;
       const std::size_t count = guest.kernel_left_s.size();
       std::string times;
       for (std::size_t i = 0; i < std::min(count, kShown); ++i)
         times += fmt::format("{}{:.1f} s", times.empty() ? "" : ", ", guest.kernel_left_s[i]);
       if (count > kShown) times += fmt::format(", and {} times more", count - kShown);
       return Sentences{fmt::format(
           "the kernel was no longer where it had run (after {}): the guest has booted again, or "
           "has loaded another kernel. {}",
           times,
           guest.kernel_was_found ? "Code after that is named by the kernel that was found then"
                                  : "No kernel was found after that, and its code has no names")};
     }},
    {"symbols-not-needed",
     [](const GuestFacts& guest) {
       return guest.was_looked_for && guest.has_symbols && guest.kernel_was_found &&
              samples(guest, PrivilegeLevel::kKernel) > 0;
     },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "--symbols was not used: the kernel was found in {}. If functions lack names, give "
           "--symbols to report",
           guest.kernel_file.empty() ? "the guest's memory" : guest.kernel_file)};
     }},
    {"symbols-in-vain",
     [](const GuestFacts& guest) {
       return guest.was_looked_for && guest.has_symbols && !guest.code_was_read &&
              !guest.kernel_was_found && samples(guest, PrivilegeLevel::kKernel) > 0;
     },
     [](const GuestFacts&) {
       return Sentences{
           "--symbols named nothing: the kernel's code could not be read in time. report and "
           "flamegraph take --symbols, too"};
     }},
    {"kernel-built-again", differs_by_text,
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "{} is not the kernel that runs in the guest, or it was built again: of {}, the guest "
           "has {:.1f} % at the same place; give the file of the build that runs",
           guest.kernel_file, guest.identity->in_file, guest.identity->equal_share * 100)};
     }},
    {"another-kernel",
     [](const GuestFacts& guest) {
       return is(guest, MatchResult::kDifferent) && !differs_by_text(guest);
     },
     [](const GuestFacts& guest) {
       return Sentences{
           fmt::format("{} is not the kernel that runs in the guest: its {} is {}, the guest's {}",
                       guest.kernel_file, guest.identity->evidence, guest.identity->in_file,
                       guest.identity->in_memory)};
     }},
    {"kernel-not-there", [](const GuestFacts& guest) { return is(guest, MatchResult::kNotThere); },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "nothing of {} is at its addresses in the guest: the kernel has not started yet, is "
           "another one, or has moved; if it has moved, give --load-bias",
           guest.kernel_file)};
     }},
    {"kernel-not-mapped",
     [](const GuestFacts& guest) { return is(guest, MatchResult::kUnreadable); },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "the addresses of {} are not mapped in the guest: the kernel has not started yet or has "
           "moved; if it has moved, give --load-bias",
           guest.kernel_file)};
     }},
    {"kernel-without-code",
     [](const GuestFacts& guest) { return is(guest, MatchResult::kNoEvidence); },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format("{} has no code to compare with the guest", guest.kernel_file)};
     }},
    {"kernel-nowhere",
     [](const GuestFacts& guest) { return misses_kernel(guest) && !guest.kernel_file.empty(); },
     [](const GuestFacts& guest) {
       return Sentences{
           fmt::format("the kernel that runs in the guest is not {}: its code is nowhere around "
                       "the code that runs",
                       guest.kernel_file)};
     }},
    {"kernel-file-not-found",
     [](const GuestFacts& guest) {
       return misses_kernel(guest) && guest.kernel_file.empty() && !guest.has_symbols;
     },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "record did not find the kernel's file{}: give it with --kernel FILE to record, or to "
           "report, flamegraph and export for this recording",
           guest.compared_files == 0
               ? std::string()
               : fmt::format(" (ELF files compared here and below: {})", guest.compared_files))};
     }},
    {"trap-loop", [](const GuestFacts& guest) { return guest.trap_loops > 0; },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "at {} of {} samples a vCPU repeats a trap for good, and runs no instruction: mtvec is "
           "{:#x}, and the code there cannot run. QEMU's option -d int prints which traps come",
           guest.trap_loops, all_samples(guest), guest.trap_loop_at.value)};
     }},
    {"no-code-ran", [](const GuestFacts& guest) { return guest.no_code_ran; },
     [](const GuestFacts&) {
       return Sentences{
           "the host ran the vCPUs, and the plugin saw no code of theirs: they may repeat a trap "
           "for good. Record with --engine gdb, which shows where"};
     }},
    {"firmware-alone",
     [](const GuestFacts& guest) { return is_firmware(guest) && guest.has_qemus_firmware; },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "{} {}, where the machine's firmware runs and no kernel, and shown as [firmware]",
           share(guest, PrivilegeLevel::kFirmware), arch::info_of(guest.arch).firmware_mode)};
     }},
    {"firmware-or-kernel",
     [](const GuestFacts& guest) { return is_firmware(guest) && !guest.has_qemus_firmware; },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "{} {}{}, and shown as [firmware]. If a kernel runs there, record with its "
           "ELF file: --kernel FILE",
           share(guest, PrivilegeLevel::kFirmware), arch::info_of(guest.arch).firmware_mode,
           guest.kernel_file.empty() ? ", outside of any known kernel"
                                     : ", outside of " + guest.kernel_file)};
     }},
    {"guest-of-hypervisor",
     [](const GuestFacts& guest) { return has_guests(guest) && guest.kernel_is_guests; },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "{} those of a hypervisor's guest ({}), whose kernel is {}: one frame each. The "
           "hypervisor's own functions have no names",
           share(guest, PrivilegeLevel::kGuest), arch::info_of(guest.arch).guest_mode,
           guest.kernel_file.empty() ? "known" : guest.kernel_file)};
     }},
    {"hypervisor",
     [](const GuestFacts& guest) {
       return has_guests(guest) && !guest.kernel_is_guests && guest.kernel_was_found;
     },
     [](const GuestFacts& guest) {
       return Sentences{fmt::format(
           "the kernel is a hypervisor: {} its guest's ({}), and shown as [guest]. For its "
           "functions, instead of the hypervisor's, record with the guest's kernel: --kernel FILE",
           share(guest, PrivilegeLevel::kGuest), arch::info_of(guest.arch).guest_mode)};
     }},
};

}  // namespace

std::span<const Finding<GuestFacts>> of_guest() { return kOfGuest; }

}  // namespace ringside::findings
